import test from 'ava'
import { compileApp } from '../../core/app/compile-app.ts'
import { temporaryFolder } from '../harness/folder.ts'
import { type Documents, fill, hide, NARROW, openOracleWorld, SECRETS } from './oracle-world.ts'
import { FULL, type World } from './world.ts'

// Safety rule S1: the four holes of the best-known system of this field were other names for the same thing.
let world: World
let documents: Documents
test.before(async () => {
  world = await openOracleWorld()
  documents = await fill(world)
  await hide(world, documents, SECRETS[0])
})
test.after.always(() => world?.close())

/** Other spellings of an attribute. */
const spellings = (name: string): readonly string[] => [
  ...[name.toUpperCase(), `${name[0]?.toUpperCase()}${name.slice(1)}`, `${name}\0`, `\u200b${name}`],
  ...[`t0.${name}`, `t1.${name}`, `authors.${name}`, `.${name}`, `${name}.`, `"${name}"`, `'${name}'`],
  ...[
    `${name}->x`,
    `${name}->>'x'`,
    `meta->>${name}`,
    `${name}::int`,
    `${name}::text`,
    `(${name})`,
    `${name}--`,
  ],
  ...[name.replace('s', '\u0455').replace('p', '\u0440'), name.normalize('NFKD').replace(/[a-z]/, fullWidth)],
  ...[`${name}_key`, `${name}Key`, `$${name}`, `@${name}`, `${name}[]`, `*.${name}`, `__${name}`],
]

const fullWidth = (letter: string): string => String.fromCodePoint(letter.charCodeAt(0) + 0xfee0)

/** Names of other systems. */
const FOREIGN = [
  ...['prototype', 'lookup', '_q', 'where', '_where', 'and', '$where', '$expr', '$raw', '$jsonSupersetOf'],
  ...[
    '$exists',
    'id.constructor',
    'document_id',
    'created_by_id',
    'createdBy',
    'updatedBy',
    'author_key',
    'vuid',
  ],
]

/** The keys that every object has: reference/rest.md#16-response-format-v4-and-query-parsing ignores them as keys. */
const INHERITED = Object.getOwnPropertyNames(Object.prototype)

const NAMES = [...['secret', 'pin'].flatMap(spellings), ...FOREIGN]

for (const [list, way] of [
  ['authors', []],
  ['articles', ['author']],
  ['categories', ['articles', 'author']],
] as const) {
  const place = [list, ...way].join('.')

  test(`private attributes cannot be reached by another spelling (${place})`, async t => {
    const answered: string[] = []
    for (const name of NAMES) {
      for (const query of named([...way], encodeURIComponent(name))) {
        const { status, text } = await world.ask('GET', `/api/${list}?${query}`, { as: FULL })
        if (status !== 400 || text.includes('whisper')) answered.push(`${status} ${query}`)
      }
    }
    t.deepEqual(answered, [])
  })
}

function named(way: readonly string[], name: string): readonly string[] {
  const keys = way.map(step => `[${step}]`).join('')
  const populate = way.length === 0 ? '' : `populate${way.map(step => `[${step}]`).join('[populate]')}`
  return [
    `filters${keys}[${name}]=whisper`,
    `filters${keys}[${name}][$startsWith]=w`,
    `filters[$not]${keys}[${name}][$null]=true`,
    `sort=${[...way, name].join('.')}`,
    `sort[0]=${[...way, name].join('.')}:desc`,
    ...(way.length === 0
      ? [`fields=${name}`, `fields[0]=${name}`, `populate=${name}`, `populate[${name}]=true`]
      : [
          `${populate}[fields]=${name}`,
          `${populate}[filters][${name}]=whisper`,
          `${populate}[sort]=${name}`,
        ]),
  ]
}

/** Parameters that other versions and other systems read; here they mean nothing, or are refused. */
const PARAMETERS = [
  ...['where', '_where', 'filter', '_filters', 'lookup', '_lookup', 'criteria', 'query', 'search', '$where'],
  ...['having', 'select', 'columns', 'orderBy', 'groupBy', 'with', 'joins', '__proto__', 'constructor'],
]

test('unknown parameters reveal nothing hidden', async t => {
  const reported: string[] = []
  for (const parameter of PARAMETERS) {
    for (const keys of [
      '[secret]',
      '[secret][$startsWith]',
      '[author][secret]',
      '[t1.secret]',
      '[filters][secret]',
      '',
    ]) {
      const [right, wrong] = await Promise.all(
        ['whisper', 'unknown'].map(guess =>
          world.ask('GET', `/api/authors?${parameter}${keys}=${guess}`, { as: FULL }),
        ),
      )
      if (right?.status !== wrong?.status || right?.text !== wrong?.text) reported.push(`${parameter}${keys}`)
    }
  }
  t.deepEqual(reported, [])
})

test('a search covers only what the caller may read', async t => {
  const found = async (list: string, text: string, as: string): Promise<number> => {
    const answer = await world.ask('GET', `/api/${list}?_q=${text}`, { as })
    t.is(answer.status, 200)
    return JSON.parse(answer.text).meta.pagination.total
  }
  t.is(await found('authors', 'whisper', NARROW.token), 0)
  t.is(await found('authors', 'Ann', NARROW.token), 1)
  t.is(await found('articles', 'whisper', NARROW.token), 0)
  t.is(await found('articles', 'review', NARROW.token), 0)
  t.is(await found('articles', 'whisper', FULL), 1)
  t.is(await found('authors', 'whisper', FULL), 1)
})

test('names of built-in object properties find nothing hidden', async t => {
  const all = await world.ask('GET', '/api/authors', { as: FULL })
  for (const name of INHERITED) {
    for (const query of [
      ...named([], name),
      ...named([], 'secret').map(each => each.replace('secret', `${name}][secret`)),
    ]) {
      const answer = await world.ask('GET', `/api/authors?${query}`, { as: FULL })
      if (answer.status === 200) t.is(answer.text, all.text, query)
      else t.is(answer.status, 400, query)
    }
  }
})

test('an attribute cannot have the name of a built-in object property', async t => {
  for (const name of INHERITED) {
    const yaml = `name: X\ncontentTypes: { book: { attributes: { title: string, "${name}": string } } }\n`
    const opened = await compile(yaml)
    t.false(opened, name)
  }
  t.true(await compile('name: X\ncontentTypes: { book: { attributes: { title: string } } }\n'))
})

async function compile(yaml: string): Promise<boolean> {
  const folder = temporaryFolder()
  folder.write('project.yaml', yaml)
  const compiled = await compileApp(folder.path, {})
  folder.remove()
  return compiled.ok
}
