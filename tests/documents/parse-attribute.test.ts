import test from 'ava'
import { type ParseOptions, parseValues } from '../../core/documents/values/parse-attribute.ts'
import { holderOf, modelOf } from '../model/compiled.ts'

const YAML = `
components:
  shared.seo: { attributes: { metaTitle: { type: string, required: true }, words: { type: integer, min: 1, max: 3 } } }
contentTypes:
  thing:
    draftAndPublish: true
    attributes:
      title: { type: string, required: true, minLength: 3, maxLength: 10 }
      text: text
      pattern: { type: string, regex: "^a+$" }
      email: email
      slug: uid
      password: password
      kind: { type: enumeration, enum: [news, opinion, review], default: news }
      rating: { type: integer, min: 0, max: 10 }
      views: biginteger
      score: float
      price: decimal
      share: { type: decimal, min: 1, max: 100 }
      flag: boolean
      day: date
      at: time
      moment: datetime
      stamp: timestamp
      meta: json
      tags: array
      content: blocks
      seo: { type: component, component: shared.seo }
      seos: { type: component, component: shared.seo, repeatable: true, min: 1, max: 2 }
  plain: { attributes: { name: { type: string, required: true } } }
`

const model = await modelOf(YAML)

const options: ParseOptions = {
  strictness: 'full',
  purpose: 'change',
  componentIds: false,
  links: () => ({ targets: [], faults: [] }),
}

const parse = (body: Record<string, unknown>, more: Partial<ParseOptions> = {}, holder = 'thing') =>
  parseValues(holderOf(model, holder), body, { ...options, ...more })

function stored(name: string, value: unknown): unknown {
  const { values, faults } = parse({ [name]: value })
  const found = values.get(name)
  return faults.length > 0 || found?.kind !== 'scalar' ? faults.map(({ message }) => message) : found.value
}

/** reference/rest.md#3-attribute-values: what is accepted, and what it is stored as. */
const ACCEPTED: readonly (readonly [attribute: string, value: unknown, stored: unknown])[] = [
  ['title', ' as given ', ' as given '],
  ['text', '', ''],
  ['text', 'x'.repeat(300), 'x'.repeat(300)],
  ['rating', '8', 8],
  ['rating', ' 8 ', 8],
  ['views', 42, '42'],
  ['views', '9223372036854775807', '9223372036854775807'],
  ['score', '1.5e3', 1500],
  ['score', [1], 1],
  ['rating', ['5'], 5],
  ['flag', ['true'], true],
  ['email', '"a b"@ü.de', '"a b"@ü.de'],
  ['price', 1.23456, '1.23'],
  ['price', 1.005, '1.01'],
  ['price', '-0.001', '0.00'],
  ['flag', 'FALSE', false],
  ['flag', 1, true],
  ['flag', '0', false],
  ['kind', null, null],
  ['email', 'a@example.org', 'a@example.org'],
  ['slug', '', ''],
  ['slug', 'A-b_c.~9', 'A-b_c.~9'],
  ['pattern', '', ''],
  ['day', '2024-02-29', '2024-02-29'],
  ['day', '2024-02-29T23:00:00Z', '2024-02-29'],
  ['at', '13:45:10.250', '13:45:10.25'],
  ['at', '10:00:00', '10:00:00'],
  ['moment', '2024-01-01', '2024-01-01T00:00:00.000Z'],
  ['moment', '2024-01-01T02:00:00+02:00', '2024-01-01T00:00:00.000Z'],
  ['moment', 1700000000000, '2023-11-14T22:13:20.000Z'],
  ['stamp', '1700000000000', '2023-11-14T22:13:20.000Z'],
  ['meta', '{"a":1}', '{"a":1}'],
  ['meta', { a: [null] }, '{"a":[null]}'],
  ['tags', ['a', 1], '["a",1]'],
  ['content', 'text', null],
  [
    'content',
    [{ type: 'heading', level: '2', children: [{ type: 'text', text: 5, bold: 'true', more: 1 }] }],
    '[{"type":"heading","level":2,"children":[{"type":"text","text":"5","bold":true,"more":1}]}]',
  ],
  [
    'content',
    [{ type: 'paragraph', children: [{ type: 'text', text: '' }] }],
    '[{"type":"paragraph","children":[{"type":"text","text":""}]}]',
  ],
]

test('values are converted to their stored form', t => {
  for (const [attribute, value, expected] of ACCEPTED)
    t.deepEqual(stored(attribute, value), expected, `${attribute} ${JSON.stringify(value)}`)
})

/** reference/rest.md#3-attribute-values: what is refused, in its words. */
const REFUSED: readonly (readonly [attribute: string, value: unknown, message: string])[] = [
  ['title', 12345, 'title must be a `string` type, but the final value was: `12345`.'],
  ['title', null, 'title must be a `string` type, but the final value was: `null`.'],
  ['title', 'ab', 'title must be at least 3 characters'],
  ['title', 'x'.repeat(11), 'title must be at most 10 characters'],
  ['email', `${'x'.repeat(250)}@example.org`, 'email must be at most 255 characters'],
  ['text', 'a\0b', 'text must not hold the character NUL or half of a surrogate pair'],
  ['meta', '{"a":[1e400]}', 'meta must not hold a number beyond ±1.7976931348623157e+308'],
  ['meta', { a: -Number.POSITIVE_INFINITY }, 'meta must not hold a number beyond ±1.7976931348623157e+308'],
  ['meta', { a: '\ud800' }, 'meta must not hold the character NUL or half of a surrogate pair'],
  ['pattern', 'b', 'pattern must match the following: "/^a+$/"'],
  ['email', '', 'email cannot be empty'],
  ['email', 'x@', 'email must be a valid email'],
  ['email', '.a@b.co', 'email must be a valid email'],
  ['email', 'a@b.123', 'email must be a valid email'],
  ['slug', 'a b', 'slug must match the following: "/^[A-Za-z0-9-_.~]*$/"'],
  ['password', 'é'.repeat(37), 'password must be at most 72 bytes'],
  ['kind', '', 'kind must be one of the following values: news, opinion, review, '],
  [
    'rating',
    'many',
    'rating must be a `number` type, but the final value was: `NaN` (cast from the value `"many"`).',
  ],
  [
    'rating',
    '',
    'rating must be a `number` type, but the final value was: `NaN` (cast from the value `""`).',
  ],
  ['rating', 1.5, 'rating must be an integer'],
  ['rating', -1, 'rating must be greater than or equal to 0'],
  ['rating', 11, 'rating must be less than or equal to 10'],
  ['rating', 2 ** 31, 'rating must be between -2147483648 and 2147483647'],
  ['views', '1.5', 'views must be a valid integer'],
  ['views', '9223372036854775808', 'views must be between -9223372036854775808 and 9223372036854775807'],
  ['share', 0.996, 'share must be greater than or equal to 1'],
  ['share', '100.004', 'share must be less than or equal to 100'],
  ['price', 1e8, 'price must be between -99999999.99 and 99999999.99'],
  ['flag', 't', 'flag must be a `boolean` type, but the final value was: `"t"`.'],
  ['day', '2023-02-30', 'Invalid date'],
  ['day', '30.2.2023', 'Invalid format, expected yyyy-MM-dd'],
  ['at', '13:45', 'Invalid time format, expected HH:mm:ss.SSS'],
  ['at', 1345, 'Expected a string, got a number'],
  ['moment', 'yesterday', 'Invalid format, expected a timestamp or an ISO date'],
  ['meta', 'plain', 'meta must be JSON: a text is read as JSON text'],
  ['tags', { a: 1 }, 'tags must be a `array` type, but the final value was: `{\n  "a": "1"\n}`.'],
  [
    'title',
    { a: ['x', null] },
    'title must be a `string` type, but the final value was: `{\n  "a": [\n    "\\"x\\"",\n    "null"\n  ]\n}`.',
  ],
  ['content', [{ type: 'nothing' }], 'Block node is of invalid type'],
  ['content', [{ type: 'paragraph' }], 'content[0].children is a required field'],
  [
    'content',
    [{ type: 'paragraph', children: [] }],
    'Paragraph node children must have at least one Text or Link node',
  ],
  [
    'content',
    [{ type: 'list', format: 'ordered', children: [{ type: 'text', text: '' }] }],
    'Inline node must be list-item or list',
  ],
  [
    'content',
    [{ type: 'paragraph', children: [{ type: 'text', text: '', bold: 'very' }] }],
    'content[0].children[0].bold must be a `boolean` type, but the final value was: `"very"`.',
  ],
  [
    'content',
    [{ type: 'paragraph', children: [{ type: 'link', url: 'javascript:alert(1)', children: [] }] }],
    'Please specify a valid link.',
  ],
  [
    'content',
    [{ type: 'paragraph', children: [{ type: 'text' }] }],
    'Text must be defined with at least an empty string',
  ],
  [
    'content',
    [{ type: 'heading', level: 7, children: [{ type: 'text', text: '' }] }],
    'content[0].level must be one of the following values: 1, 2, 3, 4, 5, 6',
  ],
  [
    'content',
    [{ type: 'quote', children: [{ type: 'link', url: 'no', children: [] }] }],
    'Please specify a valid link.',
  ],
]

test('values of a wrong type are refused with the messages of the contract', t => {
  for (const [attribute, value, message] of REFUSED)
    t.deepEqual(stored(attribute, value), [message], `${attribute} ${JSON.stringify(value)}`)
})

test('drafts may omit required values and minimums, but types and maximums hold', t => {
  const lax = parse(
    { title: null, rating: -1, email: 'x', slug: 'a b', pattern: 'b', seos: [{ metaTitle: null }] },
    { strictness: 'draft' },
  )
  t.deepEqual(lax.faults, [])
  const strict = parse(
    { title: 'x'.repeat(11), rating: 11, kind: 'none', flag: 't' },
    { strictness: 'draft' },
  )
  t.deepEqual(
    strict.faults.map(({ path }) => path.join('.')),
    ['title', 'kind', 'rating', 'flag'],
  )
})

test('a new document gets defaults for absent keys, and missing required values are reported', t => {
  const { values, faults } = parse({}, { purpose: 'make' })
  t.deepEqual(values.get('kind'), { kind: 'scalar', value: 'news' })
  t.deepEqual(faults, [
    {
      kind: 'rule',
      path: ['title'],
      message: 'title must be a `string` type, but the final value was: `null`.',
      value: null,
    },
  ])
  t.deepEqual(parse({}, { purpose: 'make' }, 'plain').faults, [
    { kind: 'rule', path: ['name'], message: 'name must be defined.' },
  ])
  t.deepEqual(parse({}).faults, [])
})

test('every error of a document is reported with its path, in schema order', t => {
  const { faults } = parse({
    seos: [{ words: 4 }, 1, { metaTitle: 'x', wrods: 1 }],
    seo: { id: 1, metaTitle: 1 },
    title: 1,
    nothing: 1,
    createdAt: 1,
  })
  t.deepEqual(
    faults.map(({ kind, path, message }) => [kind, path, message]),
    [
      ['key', ['nothing'], 'unknown attribute `nothing` of `thing`'],
      ['key', ['createdAt'], '`createdAt` of `thing` cannot be set'],
      ['rule', ['title'], 'title must be a `string` type, but the final value was: `1`.'],
      ['key', ['seo', 'id'], '`id` of `shared.seo` cannot be set'],
      ['rule', ['seo', 'metaTitle'], 'seo.metaTitle must be a `string` type, but the final value was: `1`.'],
      [
        'rule',
        ['seos', 0, 'metaTitle'],
        'seos[0].metaTitle must be a `string` type, but the final value was: `null`.',
      ],
      ['rule', ['seos', 0, 'words'], 'seos[0].words must be less than or equal to 3'],
      [
        'rule',
        ['seos', 1],
        'seos[1] must be a `object` type, but the final value was: `null` (cast from the value `1`).',
      ],
      ['key', ['seos', 2, 'wrods'], 'unknown attribute `wrods` of `shared.seo`: did you mean `words`?'],
      ['rule', ['seos'], 'seos field must have less than or equal to 2 items'],
    ],
  )
})

test('a component with an id is updated in part; lists may be empty, but not null', t => {
  t.deepEqual(parse({ seo: { id: 7, words: 1 } }, { componentIds: true }).faults, [])
  t.deepEqual(parse({ seo: null }).values.get('seo'), { kind: 'components', items: [] })
  t.deepEqual(
    parse({ seos: null }).faults[0]?.message,
    'seos must be a `array` type, but the final value was: `null`.',
  )
  t.deepEqual(parse({ seos: [] }).faults[0]?.message, 'seos field must have at least 1 items')
})

test('limits also apply to a number that is no integer', t => {
  const draft = { strictness: 'draft' } as const
  const reported = (value: unknown, more: Partial<ParseOptions> = {}) =>
    parse({ rating: value }, more).faults.map(({ message }) => message)
  const [integer, most, least] = [
    'rating must be an integer',
    'rating must be less than or equal to 10',
    'rating must be greater than or equal to 0',
  ]
  t.deepEqual(reported(11.5), [integer, most])
  t.deepEqual(reported('-0.5'), [integer, least])
  t.deepEqual(reported(-0.5, draft), [integer])
  t.deepEqual(reported(11.5, draft), [integer, most])
  t.is(reported('many').length, 1)
})

test('a message repeats no more of a value than it can show', t => {
  const within = (levels: number, value: unknown): unknown =>
    levels === 0 ? value : [within(levels - 1, value)]
  const wide = within(
    90,
    Array.from({ length: 5_000 }, () => 1),
  )
  const long = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`key${index}`, index]))
  for (const value of [wide, long, 'x'.repeat(100_000), within(3, 'x'.repeat(100_000))])
    for (const name of ['title', 'flag', 'seo', 'seos']) {
      const { faults } = parse({ [name]: value })
      t.true(faults.length > 0, name)
      for (const { message } of faults) t.true(message.length < 2_010, `${message.length} of ${name}`)
    }
  t.is(
    parse({ title: { a: ['x', 1, null], b: {} } }).faults[0]?.message,
    'title must be a `string` type, but the final value was: `{\n  "a": [\n    "\\"x\\"",\n    "1",\n    "null"\n  ],\n  "b": {}\n}`.',
  )
})

test('a body may have more faults than a call can have arguments', t => {
  const seos = Array.from({ length: 80_000 }, () => ({ words: 9 }))
  const { faults } = parse({ seos }, { purpose: 'make' })
  t.is(faults.filter(({ path }) => path[0] === 'seos').length, 160_001)
})
