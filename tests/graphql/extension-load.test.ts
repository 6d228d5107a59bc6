import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { buildSchema as fromText, type GraphQLSchema } from 'graphql'
import { loadNexus } from '../../core/graphql/extensions/nexus-part.ts'
import { ADDED, DECLARED, LABORATORY, NEXUS, SHADOW } from './laboratory.ts'
import { differences, linesOf, load, sdlOf } from './loading.ts'

// The schema built from extensions, and their faults, which are reported before a database is opened.

const here = import.meta.dirname

/** The parts of the schema that the laboratory's extensions define. */
const isOfLab = (line: string): boolean =>
  !/NameLab|nameLab|LabParts|LABPARTS/.test(line) &&
  /Shadow|shadow|Lab[A-Z]|\blab[A-Z]|shout|AuthorEntity\.self|motto/.test(line)

const labLines = (schema: GraphQLSchema) => linesOf(schema).filter(isOfLab)

test('the schema of the reference laboratory equals the reference’s, except for the listed differences', async t => {
  const schema = await load(t, {
    ...LABORATORY,
    'extensions/shadow.js': SHADOW,
    'extensions/added.js': ADDED,
    'extensions/nexus.js': NEXUS,
  })
  if (typeof schema === 'string') return t.fail(schema)
  const theirs = fromText(readFileSync(join(here, 'reference-extensions.graphql'), 'utf8'))
  const found = differences(labLines(schema), labLines(theirs))
  const file = join(here, 'golden', 'extension-differences.txt')
  if (process.env.UPDATE_GOLDEN || !existsSync(file)) writeFileSync(file, found)
  t.is(found, readFileSync(file, 'utf8'))
})

test('disabling in code and in project.yaml gives the same schema', async t => {
  const yaml = LABORATORY['project.yaml'] + DECLARED
  const [coded, declared] = [
    await sdlOf(t, { ...LABORATORY, 'extensions/shadow.js': SHADOW }),
    await sdlOf(t, { 'project.yaml': yaml }),
  ]
  t.is(coded, declared)
  t.false(coded.includes('ShadowOff'))
})

test('getters return what code and project.yaml disable', async t => {
  const type = (key: string) => `graphql.shadowCRUD('api::${key}.${key}')`
  const said = await load(t, {
    ...LABORATORY,
    'project.yaml': `${LABORATORY['project.yaml']}graphql: { shadowCRUD: { author: { queries: false, fields: { name: { filters: false } } } } }\n`,
    'extensions/ask.js': `register({ graphql }) {
      const dish = ${type('dish')}.disableAction('delete')
      dish.field('name').disableInput()
      const off = ${type('shadow-off')}.disable()
      const gone = ${type('shadow-fields')}.field('gone').disable()
      const author = ${type('author')}
      const asked = [
        dish.isEnabled(), !dish.isDisabled(), dish.areQueriesEnabled(), dish.areMutationsEnabled(),
        dish.isActionDisabled('delete'), !dish.isActionEnabled('delete'), dish.isActionEnabled('find'),
        dish.field('name').isEnabled(), !dish.field('name').hasInputEnabled(),
        dish.field('name').hasOutputEnabled(), dish.field('name').hasFiltersEnabled(),
        off.isDisabled(), !off.isEnabled(), off.areQueriesEnabled(), !off.areMutationsDisabled(),
        gone.isDisabled(), !gone.isEnabled(), !gone.hasInputEnabled(), !gone.hasOutputEnabled(), !gone.hasFiltersEnabled(),
        author.areQueriesDisabled(), !author.field('name').hasFiltersEnabled(), author.field('name').hasOutputEnabled(),
      ]
      throw new Error(asked.join())
    }`,
  })
  t.regex(String(said), /: true(,true){22} \(at extensions\/ask\.js:\d+\)$/)
})

const PROJECT = `
name: Notes
components: { shared.tag: { attributes: { label: string } } }
contentTypes:
  note: { attributes: { text: string, tag: { type: component, component: shared.tag } } }
  page: { kind: single, attributes: { text: string } }
`

async function faultsOf(t: Parameters<typeof load>[0], extensions: Record<string, string>, yaml = PROJECT) {
  const named = Object.entries(extensions).map(([name, body]) => [`extensions/${name}.js`, body] as const)
  return load(t, { 'project.yaml': yaml, ...Object.fromEntries(named) })
}

const use = (body: string) => `register({ graphql }) { graphql.use(${body}) }`
const shadow = (call: string) => `register({ graphql }) { graphql.shadowCRUD(${call} }`

test('a field that two extensions resolve is reported at its resolver, not at the first graphql.use', async t => {
  const found = await faultsOf(t, {
    a: use(`{ typeDefs: 'extend type Query { both: String }', resolvers: { Query: { both: () => 1 } } }`),
    b: `register({ graphql }) {
      graphql.use({ typeDefs: 'extend type Query { other: String }' })
      graphql.use({ resolvers: { Query: {
        both: () => 2,
      } } })
    }`,
  })
  t.is(String(found), 'extensions/b: extensions/a.js:2 resolves `Query.both` already (at extensions/b.js:5)')
})

test('names unknown to shadowCRUD are reported with the nearest known one', async t => {
  const found = await faultsOf(t, {
    action: shadow("'api::note.note').disableAction('remove')"),
    component: shadow("'shared.tag').disable()"),
    field: shadow("'api::note.note').field('txt')"),
    key: shadow("'note')"),
    single: shadow("'api::page.page').disableAction('create')"),
    uid: shadow("'api::note.nte')"),
    well: `register({ graphql }) {
      graphql.shadowCRUD('api::note.nte').disableQueries().field('text').disable().disableOutput()
      graphql.shadowCRUD('api::note.note').disableActions(['find', 'remove']).field('txt').disable()
      graphql.use(7).shadowCRUD('shared.tag').disable().isActionEnabled('find')
    }`,
  })
  t.deepEqual(String(found).split('\n'), [
    'extensions/action could not register: `api::note.note` has no action `remove`: did you mean `delete`? (at extensions/action.js:2)',
    'extensions/component could not register: `shared.tag` is a component: only its fields can be switched off (at extensions/component.js:2)',
    'extensions/field could not register: `api::note.note` has no attribute `txt`: did you mean `text`? (at extensions/field.js:2)',
    'extensions/key could not register: unknown content-type `note`: did you mean `api::note.note`? (at extensions/key.js:2)',
    'extensions/single could not register: `api::page.page` has no action `create`: one of `find`, `update`, `delete`, `*` (at extensions/single.js:2)',
    'extensions/uid could not register: unknown content-type `api::note.nte`: did you mean `api::note.note`? (at extensions/uid.js:2)',
    'extensions/well could not register: unknown content-type `api::note.nte`: did you mean `api::note.note`? (at extensions/well.js:3)',
    'extensions/well could not register: `api::note.note` has no action `remove`: did you mean `delete`? (at extensions/well.js:4)',
    'extensions/well could not register: `api::note.note` has no attribute `txt`: did you mean `text`? (at extensions/well.js:4)',
    'extensions/well could not register: graphql.use(…) takes an object, or a function that makes one (at extensions/well.js:5)',
    'extensions/well could not register: `shared.tag` is a component: only its fields can be switched off (at extensions/well.js:5)',
    'extensions/well could not register: `shared.tag` is a component: only its fields can be switched off (at extensions/well.js:5)',
  ])
})

test('all errors of merging, resolving and configuring are reported together, with their origin', async t => {
  const found = await faultsOf(t, {
    a: use(`{ typeDefs: 'extend type Query { both: String } type Both { x: Int }', resolvers: { Query: { both: () => 1 } },
      resolversConfig: { 'Query.both': { auth: false } } }`),
    b: use(`{ typeDefs: 'extend type Query { both: Int } input Both { x: Int }', resolvers: { Query: { both: () => 1, bth: () => 1 } },
      resolversConfig: { 'Query.both': { auth: false }, 'Query.nots': {} } }`),
    c: use(`{ typeDefs: 'type Query { note(id: ID): String other: Unknwn } extend type Nte { a: Int }' }`),
    d: use(`{ typeDefs: 'type {' }`),
    e: use(`{ typeDef: '' }`),
    f: use(
      `{ resolversConfig: { 'Query.notes': { policies: ['nowhere'] }, 'Query.note': { middleware: [] }, 'Note.text': { auth: { scope: ['api::note.note.fnd'] } } } }`,
    ),
    g: use(`() => { throw new Error('no licence') }`),
    h: use(`async () => ({})`),
    j: use(
      `{ typeDefs: 'enum Size { small large } extend type Query { size: Size }', resolvers: { Size: { small: 1, large: 2 },
        Query: { size: 5, sise: 5 }, Both: { x: { description: 'text' } } } }`,
    ),
    i: use(`{ typeDefs: 'interface Named { name: String }', resolvers: { Named: { name: () => '' } } }`),
  })
  t.deepEqual(String(found).split('\n').toSorted(), [
    'extensions/b: `Both` is defined as input object, but extensions/a.js:2 has it as object (at extensions/b.js:2)',
    'extensions/b: `Query.both` is defined as `both: Int`, but extensions/a.js:2 has `both: String` (at extensions/b.js:2)',
    'extensions/b: extensions/a.js:2 resolves `Query.both` already (at extensions/b.js:2)',
    'extensions/b: resolvers `Query.bth`: no field of the schema has this name: did you mean `Query.both`? (at extensions/b.js:2)',
    'extensions/b: resolversConfig `Query.both`: extensions/a.js:3 configures it already (at extensions/b.js:3)',
    'extensions/b: resolversConfig `Query.nots`: no field of the schema has this name: did you mean `Query.note`? (at extensions/b.js:3)',
    'extensions/c: `Query.note` is defined as `note(id: ID): String`, but the generated schema has `note(id: ID): NoteEntityResponse` (at extensions/c.js:2)',
    'extensions/c: unknown type `Nte`: did you mean `Note`? (at extensions/c.js:2)',
    'extensions/c: unknown type `Unknwn` (at extensions/c.js:2)',
    'extensions/d: typeDefs, line 1, column 6: Syntax Error: Expected Name, found "{". (at extensions/d.js:2)',
    'extensions/e: unknown key `typeDef`: did you mean `typeDefs`? (at extensions/e.js:2)',
    'extensions/f: resolversConfig `Note.text`: unknown permission `api::note.note.fnd`: did you mean `api::note.note.find`? (at extensions/f.js:2)',
    'extensions/f: resolversConfig `Query.note`: a resolver has no key `middleware`: did you mean `middlewares`?; it may have auth, policies, middlewares (at extensions/f.js:2)',
    'extensions/f: resolversConfig `Query.notes`: there is no policy `nowhere` (at extensions/f.js:2)',
    'extensions/g: no licence (at extensions/g.js:2)',
    'extensions/h: the function of graphql.use(…) has to return its extension at once (at extensions/h.js:2)',
    'extensions/i: resolvers `Named.name`: no field of the schema has this name (at extensions/i.js:2)',
    'extensions/j: resolvers `Query.sise` is no function (at extensions/j.js:3)',
    'extensions/j: resolvers `Query.size` is no function (at extensions/j.js:2)',
  ])
})

test('faults of definitions report the line of the file in which they are written', async t => {
  const found = await faultsOf(t, {
    text: use('{ typeDefs: `\n    type Rank { of: Nte }\n    extend type Query { rank: Rank! }\n  ` }'),
    broken: use('{ typeDefs: `\n    type Score {\n      points Int\n    }\n  ` }'),
  })
  t.deepEqual(String(found).split('\n').toSorted(), [
    'extensions/broken: typeDefs, line 3, column 14: Syntax Error: Expected ":", found Name "Int". (at extensions/broken.js:4)',
    'extensions/text: unknown type `Nte`: did you mean `Note`? (at extensions/text.js:3)',
  ])
})

test('two extensions may extend a type, and define it only with the same members and resolvers', async t => {
  const found = await faultsOf(t, {
    a: use(`{ typeDefs: \`
      scalar Day
      type Rank { id: ID }
      type Cat {
        id: ID
      }
      union Pet = Cat
      enum Size { small }
      input By { size: Size }
      extend type Query { day(by: By): Day, pet: Pet, rank: Rank }
    \`, resolvers: { Day: { serialize: () => 'a' }, Pet: { __resolveType: () => 'Cat' }, Size: { small: 1 } } }`),
    b: use(`{ typeDefs: \`
      scalar Day
      type Rank { id: ID }
      extend type Rank { of: Int }
      type Note { rank: Rank }
      type Cat { id: ID legs: Int }
      union Pet = Rank
      enum Size { large }
      input By { rank: Int }
      type Subscription { a: Int }
      query { a }
    \`, resolvers: { Day: { serialize: () => 'b' }, Pet: { __resolveType: () => 'Rank' }, Size: { small: 1 }, Sise: { small: 1 } } }`),
  })
  t.deepEqual(String(found).split('\n'), [
    'extensions/b: `Cat` is defined with other members (`legs`) than in extensions/a.js:5: write `extend type Cat` to add to it (at extensions/b.js:7)',
    'extensions/b: `Pet` is defined with other members (`Rank`, `Cat`) than in extensions/a.js:8: write `extend union Pet` to add to it (at extensions/b.js:8)',
    'extensions/b: `Size` is defined with other members (`large`, `small`) than in extensions/a.js:9: write `extend enum Size` to add to it (at extensions/b.js:9)',
    'extensions/b: `By` is defined with other members (`rank`, `size`) than in extensions/a.js:10: write `extend input By` to add to it (at extensions/b.js:10)',
    'extensions/b: there are no subscriptions here (at extensions/b.js:11)',
    'extensions/b: typeDefs defines types, and this is a document of a client (at extensions/b.js:12)',
    'extensions/b: extensions/a.js:12 resolves `Day` already (at extensions/b.js:13)',
    'extensions/b: extensions/a.js:12 resolves `Pet.__resolveType` already (at extensions/b.js:13)',
    'extensions/b: resolvers `Sise`: no type of the schema has this name: did you mean `Size`? (at extensions/b.js:13)',
  ])
})

test('faults name the extension that has them, not others that use nexus or have lines like theirs', async t => {
  const other = use(`({ nexus }) => ({
      types: [nexus.extendType({ type: 'Query', definition(t) { t.int('other', { resolve: () => 1 }) } })],
      resolvers: { Note: {
        text: () => '',
      } },
    })`)
  const conflict = `{ typeDefs: 'extend type Query { a: Int }' }`
  t.deepEqual(
    String(
      await faultsOf(t, {
        other,
        own: use(`${conflict}); graphql.use({ typeDefs: 'extend type Query { a: String }' }`),
      }),
    ),
    'extensions/own: `Query.a` is defined as `a: String`, but extensions/own.js:2 has `a: Int` (at extensions/own.js:2)',
  )
  t.is(
    String(await faultsOf(t, { other, own: use(`{ typeDefs: 'extend type Query { a: Nothing }' }`) })),
    'extensions/own: unknown type `Nothing` (at extensions/own.js:2)',
  )
  t.is(
    String(
      await faultsOf(t, {
        other,
        own: use(`{ resolvers: Object.fromEntries([['Nte', Object.fromEntries([['text', () => 1]])]]) }`),
      }),
    ),
    'extensions/own: resolvers `Nte.text`: no field of the schema has this name: did you mean `Note.text`? (at extensions/own.js:2)',
  )
})

test('options set in code are applied or refused by name, never ignored', async t => {
  const guarded = (options: string) => use(`{ resolversConfig: { 'Query.notes': ${options} } }`)
  const found = await faultsOf(t, {
    a: guarded(`{ policies: [{ name: 'nowhere', confg: {} }] }`),
    b: guarded(`{ middlewares: [{ name: 'nowhere', config: {}, options: {} }] }`),
    c: use(`{ types: [{}] }`),
    d: use(`{ types: ['note'] }`),
  })
  t.deepEqual(String(found).split('\n').toSorted(), [
    'extensions/a: resolversConfig `Query.notes`: the policy `nowhere` has no key `confg`: did you mean `config`?; it may have name, config, options (at extensions/a.js:2)',
    'extensions/b: resolversConfig `Query.notes`: extensions/a.js:2 configures it already (at extensions/b.js:2)',
    'extensions/c: types[0] is no type in the style of nexus (at extensions/c.js:2)',
    'extensions/d: types[0] is no type in the style of nexus (at extensions/d.js:2)',
  ])
  const both = await faultsOf(t, {
    b: guarded(`{ middlewares: [{ name: 'nowhere', config: {}, options: {} }] }`),
  })
  t.regex(String(both), /the middleware `nowhere` has both config and options/)
  const route = (options: string) => `register({ rest }) { rest.route('GET', '/x', () => 1, ${options}) }`
  t.regex(
    String(await faultsOf(t, { r: route(`{ policy: [] }`) })),
    /GET \/x has no key `policy`; it may have auth, policies, middlewares/,
  )
  t.regex(String(await faultsOf(t, { r: route(`{ auth: { scopes: [] } }`) })), /no key `scopes`.*`scope`/)
})

test('createLocalization can be disabled alone', async t => {
  const yaml = PROJECT.replace('note: {', 'note: { localized: true,').replace(
    'name: Notes',
    'name: Notes\ni18n: { locales: [en, fr], defaultLocale: en }',
  )
  const sdl = await sdlOf(t, {
    'project.yaml': yaml,
    'extensions/a.js': shadow("'api::note.note').disableAction('createLocalization')"),
  })
  t.false(sdl.includes('createNoteLocalization'))
  t.true(sdl.includes('createNote('))
  const found = await faultsOf(t, { a: shadow("'api::note.note').disableAction('createLocalization')") })
  t.regex(String(found), /`api::note\.note` has no action `createLocalization`/)
})

test('settings of project.yaml are reported with file and line, also if an extension sets them too', async t => {
  const yaml = `${PROJECT}resolversConfig:\n  Query.notes: { auth: false }\n  Note.txt: { auth: false }\n`
  const found = await faultsOf(t, { a: use(`{ resolversConfig: { 'Query.notes': { auth: false } } }`) }, yaml)
  t.regex(String(found), /project\.yaml:8:3 `Query\.notes`: extensions\/a\.js:2 configures it already/)
  t.regex(
    String(found),
    /project\.yaml:9:3 `Note\.txt`: no field of the schema has this name: did you mean `Note\.text`\?/,
  )
})

test('invalid schema text is reported with the message of the GraphQL library', async t => {
  const found = await faultsOf(t, {
    a: use(
      `{ typeDefs: 'interface Named { name: String } type Thing implements Named { other: Int } extend type Query { thing: Thing }' }`,
    ),
    b: use(`{ typeDefs: 'extend type Query { other: Int }' }`),
  })
  t.regex(
    String(found),
    /^extensions\/a: what it adds makes no schema: .*Named\.name.* \(at extensions\/a\.js:2\)$/,
  )
})

test('an error of the GraphQL library that has no place names the extension that causes it', async t => {
  const a = use(`{ typeDefs: 'extend type Query { base: Base } type Base { a: Int }' }`)
  for (const [body, message] of [
    [`{ typeDefs: 'extend type Base { x: Int @nope }' }`, 'Unknown directive "@nope".'],
    [`{ resolvers: { Note: { __isTypeOf: 5 } } }`, 'Note must provide "isTypeOf" as a function, but got: 5.'],
    [
      `{ typeDefs: 'enum E { A A } extend type Base { x: E }' }`,
      'Enum value "E.A" can only be defined once.',
    ],
  ]) {
    const found = await faultsOf(t, {
      a,
      b: use(String(body)),
      c: use(`{ typeDefs: 'extend type Base { c: Int }' }`),
    })
    t.is(found, `extensions/b: what it adds makes no schema: ${message} (at extensions/b.js:2)`)
  }
})

test('a wrong directive that two extensions have names one of them', async t => {
  const wrong = use(`{ typeDefs: 'extend scalar DateTime @nope' }`)
  const found = await faultsOf(t, { a: wrong, b: wrong })
  t.is(found, 'extensions/a: what it adds makes no schema: Unknown directive "@nope". (at extensions/a.js:2)')
})

test('a type without fields is an error, and no field of the schema gets lost with it', async t => {
  for (const [typeDefs, kind] of [
    ['type Shape extend type Note { shape: Shape }', 'object'],
    ['interface Shape extend type Note { shape: Shape }', 'interface'],
    ['input Shape extend type Query { shape(of: Shape): Int }', 'input object'],
  ]) {
    const found = await faultsOf(t, { a: use(`{ typeDefs: '${typeDefs}' }`) })
    t.is(
      found,
      `extensions/a: \`Shape\` has no fields: ${kind} types have at least one (at extensions/a.js:2)`,
    )
  }
  const filled = await sdlOf(t, {
    'project.yaml': PROJECT,
    'extensions/a.js': use(`{ typeDefs: 'type Shape extend type Note { shape: Shape }' }`),
    'extensions/b.js': use(`{ typeDefs: 'extend type Shape { sides: Int }' }`),
  })
  t.regex(filled, /shape: Shape/)
})

test('without shadowCRUD the schema contains only what extensions add', async t => {
  const yaml = `${PROJECT}graphql: { config: { shadowCRUD: false } }\n`
  t.is(await sdlOf(t, { 'project.yaml': yaml }), 'type Query {\n  ok: Boolean\n}')
  const added = await sdlOf(t, {
    'project.yaml': yaml,
    'extensions/a.js': use(`{ typeDefs: 'extend type Query { hello: String }' }`),
  })
  t.is(added, 'type Query {\n  ok: Boolean\n  hello: String\n}')
})

test('built-in types are disabled together with their operations', async t => {
  const sdl = await sdlOf(t, {
    'project.yaml': PROJECT,
    'extensions/a.js': `register({ graphql }) {
      graphql.shadowCRUD('plugin::upload.file').disable()
      graphql.shadowCRUD('plugin::users-permissions.user').disableMutations()
    }`,
  })
  t.notRegex(sdl, /UploadFile|removeFile|multipleUpload|createUsersPermissionsUser/)
  t.regex(sdl, /usersPermissionsUsers\(/)
  t.regex(sdl, /createUsersPermissionsRole/)
})

test('the GraphQL service refuses changes after register', async t => {
  const found = await faultsOf(t, {
    a: `register({ graphql }) { globalThis.kept = graphql }`,
    b: use(`() => { globalThis.kept.use({}); return {} }`),
  })
  t.is(
    String(found),
    'extensions/b: graphql can be extended in `register` alone: now the schema is made (at extensions/b.js:2)',
  )
})

test('an extension that needs nexus is refused with the package to install if it is missing', t => {
  const error = t.throws(() => loadNexus(['/nowhere/project.yaml']))
  t.is(error?.message, 'it needs the package nexus, which is not installed: npm install nexus')
})
