import test from 'ava'
import { placesAmong, type Run } from '../../core/documents/rows/list-places.ts'

/** More links than a call can have arguments. */
const MANY = 150_000

const groups = Array.from({ length: MANY }, (_, key) => [
  { key, documentId: `d${key}`, locale: null, status: null },
])

for (const from of ['start', 'after', 'end'] as const)
  test(`a list takes ${MANY} links at once: ${from}`, t => {
    const neighbours = new Map([[1, { before: null, first: 1e9, last: 1e9, after: null }]])
    const run: Run = { from, key: from === 'after' ? 1 : null, groups }
    const placed = placesAmong([run], { first: 1e9, neighbours })
    t.is(placed?.length, MANY)
  })
