import test from 'ava'
import { memoize, once, onceResolved } from '../../core/base/memo.ts'

test('a value is computed once, also when it is undefined', t => {
  let calls = 0
  const value = once(() => void calls++)
  value()
  value()
  t.is(calls, 1)
})

test('a computation that threw is repeated', t => {
  let calls = 0
  const value = once(() => {
    if (++calls === 1) throw new Error('first')
    return calls
  })
  t.throws(value, { message: 'first' })
  t.is(value(), 2)
  t.is(value(), 2)
})

test('a promise is shared while it is pending and afterwards', async t => {
  let calls = 0
  const open = onceResolved(async () => ++calls)
  t.deepEqual(await Promise.all([open(), open()]), [1, 1])
  t.is(await open(), 1)
})

test('a promise that was rejected is not remembered', async t => {
  let calls = 0
  const open = onceResolved(async () => {
    if (++calls === 1) throw new Error('too many open files')
    return calls
  })
  const both = await Promise.allSettled([open(), open()])
  t.deepEqual(
    both.map(({ status }) => status),
    ['rejected', 'rejected'],
  )
  t.is(await open(), 2)
  t.is(await open(), 2)
})

test('a memoized function computes once for each object', t => {
  const seen: object[] = []
  const size = memoize((list: readonly number[]) => {
    seen.push(list)
    return list.length
  })
  const [a, b] = [[1, 2], [3]]
  t.deepEqual([size(a), size(b), size(a)], [2, 1, 2])
  t.deepEqual(seen, [a, b])
})
