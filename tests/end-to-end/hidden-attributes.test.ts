import test from 'ava'
import { OPERATOR_NAMES } from '../../core/query/operators.ts'
import { openRoom, type Room, type Token } from './reading-room.ts'

// Callers cannot infer unreadable values from queries: every way to name a hidden attribute is refused, and the
// refusal is the same whether the value is the right one or not. S1 to S3 of the safety rules.
let room: Room
test.before(async () => {
  room = await openRoom()
})
test.after.always(() => room?.close())

interface Hidden {
  readonly list: string
  /** The way from there to the holder of the attribute: relations, components, the other side of relations. */
  readonly hops: readonly string[]
  readonly attribute: string
  readonly value: string
  readonly token: Token | null
}

const WAYS: readonly Hidden[] = [
  { list: 'people', hops: [], attribute: 'secret', value: 'whisper', token: 'full' },
  { list: 'people', hops: [], attribute: 'pin', value: '1234', token: 'full' },
  { list: 'books', hops: [], attribute: 'hidden', value: 'spine', token: 'read' },
  { list: 'books', hops: ['author'], attribute: 'secret', value: 'whisper', token: null },
  { list: 'books', hops: ['edition', 'publisher'], attribute: 'secret', value: 'whisper', token: 'full' },
  { list: 'subjects', hops: ['books', 'author'], attribute: 'pin', value: '1234', token: 'full' },
  {
    list: 'shelves',
    hops: ['books', 'sequels', 'author'],
    attribute: 'secret',
    value: 'whisper',
    token: null,
  },
  { list: 'people', hops: ['diary'], attribute: 'text', value: 'Kept for myself.', token: null },
  { list: 'books', hops: ['author', 'diary'], attribute: 'text', value: 'Kept for myself.', token: null },
  { list: 'books', hops: [], attribute: 'code', value: 'A1', token: 'guarded' },
]

const bracketed = (hops: readonly string[]): string => hops.map(hop => `[${hop}]`).join('')
const populated = (hops: readonly string[]): string => hops.map(hop => `[${hop}]`).join('[populate]')

function filtersOn({ hops, attribute, value }: Hidden): readonly string[] {
  const way = `${bracketed(hops)}[${attribute}]`
  return [
    `filters${way}=${value}`,
    ...OPERATOR_NAMES.map(operator => `filters${way}[${operator}]=${value}`),
    `filters${way}[$in][0]=${value}`,
    `filters${way}[$not][$eq]=${value}`,
    `filters[$or][0]${way}=${value}`,
    `filters[$and][0][$not]${way}[$contains]=${value}`,
    `filters[$not]${way}=${value}`,
  ]
}

function otherNames({ hops, attribute, value }: Hidden): readonly string[] {
  const dotted = [...hops, attribute].join('.')
  const spellings = [
    attribute.toUpperCase(),
    `t1.${attribute}`,
    `"${attribute}"`,
    `${attribute}::text`,
    `${attribute} `,
  ]
  return [
    `sort=${dotted}`,
    `sort=${dotted}:desc`,
    `sort${bracketed([...hops, attribute])}=asc`,
    ...spellings.flatMap(name => [
      `filters${bracketed(hops)}[${encodeURIComponent(name)}]=${value}`,
      `sort=${encodeURIComponent([...hops, name].join('.'))}`,
    ]),
    ...(hops.length === 0
      ? [`fields=${attribute}`, `fields[0]=title&fields[1]=${attribute}`, `populate=${attribute}`]
      : []),
  ]
}

/** Inside a populate: what may be populated is, what may not is refused or left out, and the value changes nothing. */
function insidePopulate({ hops, attribute, value }: Hidden): readonly string[] {
  if (hops.length === 0) return []
  const way = `populate${populated(hops)}`
  return [
    `${way}[filters][${attribute}]=${value}`,
    `${way}[filters][$not][${attribute}][$startsWith]=${value}`,
    `${way}[sort]=${attribute}`,
    `${way}[fields]=${attribute}`,
    `${way}[populate]=${attribute}`,
  ]
}

for (const hidden of WAYS) {
  const { list, hops, attribute, token } = hidden
  const name = [list, ...hops, attribute].join('.')

  test(`${name} cannot be filtered, sorted or selected by, in any spelling (${token ?? 'anonymous'})`, async t => {
    for (const query of [...filtersOn(hidden), ...otherNames(hidden)]) {
      const answer = await room.get(`/api/${list}?${query}`, token)
      t.is(answer.status, 400, query)
    }
  })

  test(`no response reveals whether a guess at ${name} is right (${token ?? 'anonymous'})`, async t => {
    const wrong = { ...hidden, value: 'zzzz' }
    const [right, other] = [hidden, wrong].map(way => [...filtersOn(way), ...insidePopulate(way)])
    for (const [index, query] of (right ?? []).entries()) {
      const [one, two] = [
        await room.get(`/api/${list}?${query}`, token),
        await room.get(`/api/${list}?${other?.[index]}`, token),
      ]
      t.deepEqual([one.status, one.body], [two.status, two.body], query)
      t.notRegex(JSON.stringify(one.body), /whisper|spine|Kept for/, query)
    }
  })
}
