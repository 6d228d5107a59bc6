import test from 'ava'
import { openAnswerStore, toBody } from '../../core/cache/answer-store.ts'

const KILOBYTE = 1024

test('the store respects its limit and evicts the least recently used entry first', t => {
  const keep = openAnswerStore(64 * KILOBYTE)
  const body = toBody('x'.repeat(4 * KILOBYTE))
  for (let number = 0; number < 100; number++) {
    keep.setBody(`key ${number}`, '1', body, null)
    t.truthy(keep.body('key 0'), 'what is asked for all the time stays')
  }
  const kept = Array.from({ length: 100 }, (_, number) => keep.body(`key ${number}`)).filter(Boolean)
  t.true(kept.length * body.bytes.length <= 64 * KILOBYTE)
  t.true(kept.length > 8)
  t.truthy(keep.body('key 99'))
  t.is(keep.body('key 1'), undefined)
})

test('an entry larger than an eighth of the limit is not stored, keys included', t => {
  const keep = openAnswerStore(64 * KILOBYTE)
  keep.setBody('large', '1', toBody('x'.repeat(9 * KILOBYTE)), null)
  t.is(keep.body('large'), undefined)
  const key = 'k'.repeat(9 * KILOBYTE)
  keep.setBody(key, '1', toBody('x'), null)
  t.is(keep.body(key), undefined)
})

test('a stored body retains no other memory', t => {
  const { bytes, tag } = toBody('größer')
  t.is(bytes.toString(), 'größer')
  t.is(bytes.buffer.byteLength, bytes.length)
  t.is(tag.length, 27)
})
