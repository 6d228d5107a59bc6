import test from 'ava'
import { parseDateTime } from '../../core/query/parse-moment.ts'

const MOMENT = Date.parse('2026-11-22T04:23:00.000Z')

test('a timestamp is parsed to its exact millisecond', t => {
  const wrong = Array.from({ length: 60_000 }, (_, index) => new Date(MOMENT + index).toISOString()).filter(
    text => {
      const parsed = parseDateTime(text)
      return !parsed.ok || parsed.value !== text
    },
  )
  t.deepEqual(wrong, [])
})

test('digits beyond milliseconds are ignored', t => {
  const said = (seconds: string) => {
    const parsed = parseDateTime(`2026-11-22T04:23:${seconds}+01:00`)
    return parsed.ok ? parsed.value : null
  }
  t.deepEqual(['32.2459', '32,245999999', '32.2', '59.9999', '0.0009'].map(said), [
    '2026-11-22T03:23:32.245Z',
    '2026-11-22T03:23:32.245Z',
    '2026-11-22T03:23:32.200Z',
    '2026-11-22T03:23:59.999Z',
    null,
  ])
})
