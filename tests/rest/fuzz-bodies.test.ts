import test from 'ava'
import { type Body, openRoom, type Room } from '../end-to-end/reading-room.ts'
import { openRandom } from '../harness/random.ts'

let room: Room
test.before(async () => {
  room = await openRoom()
})
test.after.always(() => room?.close())

const KEYS = [
  ...['title', 'slug', 'body', 'pages', 'weight', 'price', 'sold', 'day', 'opens', 'releasedAt', 'stamp'],
  ...['inPrint', 'kind', 'contact', 'meta', 'tags', 'text', 'hidden', 'author', 'subjects', 'sequels'],
  ...['cover', 'scans', 'edition', 'editions', 'pieces', 'id', 'documentId', 'locale', 'publishedAt'],
] as const
const WORDS = ['set', 'connect', 'disconnect', 'position', 'before', 'status', '__component', 'format', 'url']
const LEAVES = [
  ...[
    null,
    true,
    false,
    0,
    -1,
    1.5,
    7,
    1e308,
    2 ** 53,
    '',
    'x',
    '7',
    'a\0b',
    '\uD800',
    'parts.note',
    'draft',
  ],
  ...['2024-02-29', '99999-01-01', '25:00:00', '{"a":1}', 'NaN', 'Infinity', 'x'.repeat(300), '9'.repeat(40)],
]

function write(next: (below: number) => number): Record<string, unknown> {
  const pick = <Item>(items: readonly Item[]): Item | undefined => items[next(items.length)]
  const value = (depth: number): unknown => {
    const kind = depth > 3 ? 0 : next(4)
    if (kind < 2) return pick(LEAVES)
    const items = Array.from({ length: next(3) }, () => value(depth + 1))
    if (kind === 2) return items
    return Object.fromEntries(items.map(item => [pick(next(3) === 0 ? KEYS : WORDS) ?? '', item]))
  }
  const keys = Array.from({ length: 1 + next(3) }, () => pick(KEYS) ?? '')
  return { title: 'x', ...Object.fromEntries(keys.map(key => [key, value(0)])) }
}

test('no body causes a server error', async t => {
  const next = openRandom(20_240_229)
  for (let round = 0; round < 400; round++) {
    const data = write(next)
    const path = next(2) === 0 ? '/api/books' : '/api/books?status=draft'
    const answer = await fetch(room.base + path, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        authorization: 'Bearer full-reading-room-token-000000000000000',
      },
      body: JSON.stringify({ data }),
    })
    const body = (await answer.json()) as Body
    t.true([201, 400].includes(answer.status), `${JSON.stringify(data)}: ${JSON.stringify(body)}`)
  }
})
