import test from 'ava'
import { openRoom, type Room } from '../end-to-end/reading-room.ts'

let room: Room
test.before(async () => {
  room = await openRoom()
})
test.after.always(() => room?.close())

const NAMES = [
  ...['title', 'pages', 'sold', 'weight', 'price', 'day', 'opens', 'releasedAt', 'stamp', 'inPrint', 'kind'],
  ...[
    'meta',
    'tags',
    'text',
    'id',
    'documentId',
    'locale',
    'createdAt',
    'author',
    'subjects',
    'localizations',
  ],
  ...[
    'cover',
    'seo',
    'blocks',
    'links',
    'nothing',
    'createdBy',
    '',
    '0',
    '-1',
    'a.b',
    '*',
    'true',
    '__proto__',
    'é',
  ],
]
const OPERATORS = [
  ...[
    '$eq',
    '$eqi',
    '$ne',
    '$nei',
    '$lt',
    '$lte',
    '$gt',
    '$gte',
    '$in',
    '$notIn',
    '$contains',
    '$notContains',
  ],
  ...[
    '$containsi',
    '$notContainsi',
    '$null',
    '$notNull',
    '$between',
    '$startsWith',
    '$startsWithi',
    '$endsWith',
  ],
  ...['$endsWithi', '$and', '$or', '$not', '$like'],
]
const VALUES = [
  ...[
    '',
    'a',
    '1',
    '-1',
    '1.5',
    '99999999999',
    '9223372036854775808',
    '1e400',
    'NaN',
    'true',
    'null',
    '%00',
    '%25',
  ],
  ...[
    '2024-02-30',
    '2024-02-29',
    '0001-01-01T00:00:00Z',
    '99999999999999999',
    '12:00:00',
    '24:00:00',
    '{"a":1}',
  ],
  ...[
    '"%5Cu0000"',
    '"%5Cud800"',
    '%F0%9F%98%80',
    '%ED%A0%80',
    "'%3B--",
    '_',
    '%5C',
    'x'.repeat(300),
    'desc',
    'asc',
  ],
]
const TOPS = [
  'filters',
  'sort',
  'fields',
  'populate',
  'pagination',
  'status',
  'locale',
  '_q',
  'publicationFilter',
]
const WORDS = [
  ...NAMES,
  'filters',
  'sort',
  'fields',
  'populate',
  'count',
  'on',
  'page',
  'pageSize',
  'start',
  'limit',
  'parts.note',
]

/** A stream of numbers below one, the same at every run. */
function* numbers(seed: number): Generator<number, never> {
  let state = seed
  for (;;) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    yield state / 2 ** 32
  }
}

const source = numbers(20_240_229)
const pick = <Item>(items: readonly Item[]): Item | string =>
  items[Math.floor(source.next().value * items.length)] ?? ''

function parameter(): string {
  const top = pick(TOPS)
  const depth = Math.floor(source.next().value * 5)
  const keys = Array.from({ length: depth }, (_, at) => `[${key(top, at, depth)}]`)
  return `${top}${keys.join('')}=${pick(source.next().value < 0.5 ? VALUES : NAMES)}`
}

function key(top: string, at: number, depth: number): string {
  if (top === 'filters' && at === depth - 1) return String(pick(OPERATORS))
  return String(pick(source.next().value < 0.2 ? OPERATORS : top === 'filters' ? NAMES : WORDS))
}

test('no query string causes a server error', async t => {
  const failures: string[] = []
  const seen = new Set<number>()
  for (let round = 0; round < 1_500; round++) {
    const search = Array.from({ length: 1 + (round % 3) }, parameter).join('&')
    const path = `/api/books${round % 4 === 0 ? '/ember' : ''}?${search}`
    const { status } = await room.get(path)
    seen.add(status)
    if (![200, 400, 404].includes(status)) failures.push(`${status} ${path}`)
  }
  t.deepEqual(failures, [])
  t.true(seen.has(200) && seen.has(400))
})

test('no value of any attribute under any operator causes a server error', async t => {
  const failures: string[] = []
  for (const name of NAMES.slice(0, 18)) {
    for (const operator of OPERATORS) {
      const values = VALUES.filter(() => source.next().value < 0.2)
      for (const value of values) {
        const path = `/api/books?filters[${name}][${operator}]=${value}`
        const { status } = await room.get(path)
        if (![200, 400].includes(status)) failures.push(`${status} ${path}`)
      }
    }
  }
  t.deepEqual(failures, [])
})
