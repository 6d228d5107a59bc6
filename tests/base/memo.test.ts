import test from 'ava'
import { memoize, once } from '../../core/base/memo.ts'

test('a value is computed once, also when it is undefined', t => {
  let calls = 0
  const value = once(() => void calls++)
  value()
  value()
  t.is(calls, 1)
})

test('a computation that threw is tried again', t => {
  let calls = 0
  const value = once(() => {
    if (++calls === 1) throw new Error('first')
    return calls
  })
  t.throws(value, { message: 'first' })
  t.is(value(), 2)
  t.is(value(), 2)
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
