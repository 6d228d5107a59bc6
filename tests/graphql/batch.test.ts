import test from 'ava'
import { openBatchLoader } from '../../core/graphql/extensions/load-returned.ts'

test('requests of one tick are batched, later ones are separate', async t => {
  const asked: (readonly number[])[] = []
  const batch = openBatchLoader<number, number>(async keys => {
    asked.push(keys)
    return keys.map(key => key * 10)
  })
  const later = Promise.resolve().then(() => batch.load(3))
  t.deepEqual(await Promise.all([batch.load(1), batch.load(2), later]), [10, 20, 30])
  t.is(await batch.load(4), 40)
  t.deepEqual(asked, [[1, 2, 3], [4]])
})

test('all callers of a batch receive its failure', async t => {
  const batch = openBatchLoader<number, number>(async () => {
    throw new Error('no answer')
  })
  const settled = await Promise.allSettled([batch.load(1), batch.load(2)])
  t.deepEqual(
    settled.map(({ status }) => status),
    ['rejected', 'rejected'],
  )
})
