import type { Operator } from '../../core/query/operators.ts'

/** A source of numbers below one, the same at every run. */
export type Random = () => number

export function numbersFrom(seed: number): Random {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

export const pick = <Item>(random: Random, items: readonly [Item, ...Item[]]): Item =>
  items[Math.floor(random() * items.length)] ?? items[0]

/** The value of `filters`, as JSON. */
export type Filter = string | readonly Filter[] | { readonly [key: string]: Filter }

export const printFilter = (filter: Filter): string => print('filters', filter).join('&')

function print(name: string, filter: Filter): readonly string[] {
  if (typeof filter === 'string') return [`${name}=${encodeURIComponent(filter)}`]
  return Object.entries(filter).flatMap(([key, inner]) => print(`${name}[${key}]`, inner))
}

type Kind = 'text' | 'integer' | 'number' | 'moment' | 'flag'

interface Shape {
  readonly values: Readonly<Record<string, Kind>>
  readonly ways: Readonly<Record<string, () => Shape>>
}

const stamps = { createdAt: 'moment', publishedAt: 'moment' } as const

const book: Shape = {
  values: {
    ...{ id: 'integer', documentId: 'text', locale: 'text', ...stamps, title: 'text', subtitle: 'text' },
    ...{ code: 'text', pages: 'integer', weight: 'number', price: 'number', sold: 'integer' },
    ...{ releasedAt: 'moment', inPrint: 'flag', kind: 'text', contact: 'text' },
  },
  ways: {
    author: () => person,
    subjects: () => subject,
    sequels: () => book,
    edition: () => edition,
    editions: () => edition,
  },
}
const person: Shape = {
  values: { id: 'integer', documentId: 'text', name: 'text', email: 'text', ...stamps },
  ways: { books: () => book },
}
const subject: Shape = {
  values: { id: 'integer', name: 'text', weight: 'integer' },
  ways: { books: () => book },
}
const edition: Shape = {
  values: { format: 'text', price: 'number' },
  ways: { publisher: () => person, links: () => ({ values: { label: 'text', url: 'text' }, ways: {} }) },
}

const VALUES: Readonly<Record<Kind, readonly [string, ...string[]]>> = {
  text: [
    'e',
    'Hello World',
    'ada',
    'é',
    '%',
    '_',
    '\\',
    "'",
    '"',
    '',
    'null',
    '$1',
    '😀',
    'night',
    'x'.repeat(400),
  ],
  integer: ['1', '0', '-1', '300', '120', '42', '9'],
  number: ['1', '0', '-1', '300', '120', '9.5', '1.25', '42', '9'],
  moment: ['2024-01-01', '2023-11-14T22:13:20.000Z', '2999-12-31', '1704067200000'],
  flag: ['true', 'false'],
}

const EQUAL = ['$eq', '$ne', '$in', '$notIn', '$null', '$notNull'] as const
const ORDER = [...EQUAL, '$lt', '$lte', '$gt', '$gte', '$between'] as const
const OPERATORS: Readonly<Record<Kind, readonly [Operator, ...Operator[]]>> = {
  text: [
    ...ORDER,
    ...(['$contains', '$notContains', '$startsWith', '$endsWith', '$containsi', '$eqi', '$nei'] as const),
  ],
  integer: ORDER,
  number: ORDER,
  moment: ORDER,
  flag: EQUAL,
}

/** A filter on books that the grammar allows. */
export const filterOf = (random: Random): Filter => inShape(random, book, 3)

/** One that the caller `guarded` may ask for, too. */
export const guardedFilterOf = (random: Random): Filter => inShape(random, guarded, 3)

const guarded: Shape = {
  values: { id: 'integer', documentId: 'text', title: 'text', pages: 'integer', locale: 'text' },
  ways: {},
}

function inShape(random: Random, shape: Shape, depth: number): Filter {
  const chance = random()
  const [first, ...rest] = Object.keys(shape.ways)
  if (depth > 0 && chance < 0.15) {
    const name = pick(random, ['$and', '$or'] as const)
    return { [name]: [inShape(random, shape, depth - 1), inShape(random, shape, depth - 1)] }
  }
  if (depth > 0 && chance < 0.25) return { $not: inShape(random, shape, depth - 1) }
  if (depth > 0 && chance < 0.6 && first !== undefined) {
    const way = pick(random, [first, ...rest])
    if (random() < 0.1) return { [way]: { $null: pick(random, VALUES.flag) } }
    return { [way]: inShape(random, shape.ways[way]?.() ?? shape, depth - 1) }
  }
  return onValue(random, shape)
}

function onValue(random: Random, { values }: Shape): Filter {
  const [name, kind] = pick(random, Object.entries(values) as [[string, Kind], ...[string, Kind][]])
  const operator = pick(random, OPERATORS[kind])
  const value = () => pick(random, VALUES[kind])
  return { [name]: { [operator]: input(operator, value, () => pick(random, VALUES.flag)) } }
}

function input(operator: Operator, value: () => string, flag: () => string): Filter {
  if (operator === '$in' || operator === '$notIn') return [value(), value(), value()]
  if (operator === '$between') return [value(), value()]
  return operator === '$null' || operator === '$notNull' ? flag() : value()
}

const SORTS = [
  'title',
  'pages',
  'price',
  'kind',
  'inPrint',
  'author.name',
  'edition.price',
  'publishedAt',
  'sold',
  'subjects.name',
  'sequels.title',
  'editions.links.label',
] as const

export const sortOf = (random: Random): string =>
  [0, 1].map(() => `${pick(random, SORTS)}:${pick(random, ['asc', 'desc'])}`).join(',')

const WAYS = [
  ...(['author', 'subjects', 'sequels', 'edition', 'editions', 'pieces', 'cover', 'scans'] as const),
  ...(['localizations', 'books', 'publisher', 'links', 'scan', 'portrait', 'diary', 'reader', '*'] as const),
] as const

/** A populate of books, as likely as not one that is refused. */
export function populateOf(random: Random): string {
  const names = Array.from({ length: 1 + Math.floor(random() * 3) }, () => pick(random, WAYS))
  const last = pick(random, [
    '=*',
    '=true',
    '[fields]=*',
    '[populate]=*',
    '[count]=true',
    '[sort]=id',
  ] as const)
  return random() < 0.3 ? `populate=${names.join('.')}` : `populate[${names.join('][populate][')}]${last}`
}

const LINES = [
  ...(['/', '//', '/api', '/api/', '/api/books', '/API/Books/', '/api//books', '/api/books/ember/'] as const),
  ...([
    '/api/books/%',
    '/api/books/%00',
    '/api/books/%ED%A0%80',
    '/api/books/__proto__',
    '/api/toString',
  ] as const),
  ...(['/api/books/../people', '/uploads/..%2f..%2fproject.yaml', '/uploads/%00', '/uploads/', '*'] as const),
  ...([
    'http://elsewhere/api/books',
    '/api/books?%',
    '/api/books?filters[title]=%ff',
    '/api/books?_q=%00',
  ] as const),
  ...([
    '/api/books?status[]=draft',
    '/api/books?locale[a][b]=fr',
    '/api/notice',
    '/_health',
    '/_ready',
  ] as const),
  ...(['/api/b\xf6ks', '/api/books;a=1', '/api/people/ada/secret', '/api/books/ember?populate=*'] as const),
] as const

const METHODS = [
  ...(['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE'] as const),
  ...(['TRACE', 'REPORT', 'CONNECT', 'get', 'FOO'] as const),
] as const

const HEADERS = [
  ...([
    'Accept: */*',
    'Authorization: Bearer',
    'Authorization: Bearer a b',
    'Origin: null',
    'Origin: \xff',
  ] as const),
  ...(['Authorization: Bearer eyJhbGciOiJub25lIn0.eyJpZCI6MX0.', 'If-Match: x', 'If-None-Match: *'] as const),
  ...([
    'X-Request-Id: \xe9',
    'Expect: 100-continue',
    'Expect: x',
    'Upgrade: websocket',
    'Range: bytes=0-1',
  ] as const),
  ...([
    'Content-Length: -1',
    'Content-Length: 9',
    'Transfer-Encoding: gzip',
    'Transfer-Encoding: chunked',
  ] as const),
  ...(['Content-Type: application/json', 'Content-Type: multipart/form-data', 'Content-Type: \xff'] as const),
  ...(['Strapi-Response-Format: v4', 'Accept-Encoding: br;q=x', 'Host: y'] as const),
] as const

const BODIES = [
  ...([
    '',
    '{',
    'null',
    '[]',
    '{"data":null}',
    '{"__proto__":1}',
    '{"data":{"__proto__":{"a":1}}}',
    '\0',
  ] as const),
  ...([
    'data[title]=x',
    '{"data":{"title":"a\\u0000b"}}',
    '{"data":{"title":"\\ud800","pages":1e999}}',
  ] as const),
  '[[[[[[[[' as const,
] as const

/** A request of any kind, in bytes; what it asks for is not written anywhere. */
export function requestOf(random: Random): string {
  const body = pick(random, BODIES)
  const length = `Content-Length: ${Buffer.byteLength(body)}\r\n`
  const headers = [pick(random, HEADERS), pick(random, HEADERS)].join('\r\n')
  return `${pick(random, METHODS)} ${pick(random, LINES)} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${length}${headers}\r\n\r\n${body}`
}
