import test from 'ava'
import {
  buildClientSchema,
  type GraphQLInputObjectType,
  getIntrospectionQuery,
  getNamedType,
  isInputObjectType,
} from 'graphql'
import { numbersFrom } from '../end-to-end/fuzz.ts'
import { fill, hide, openOracleWorld, SECRETS } from './oracle-world.ts'
import { sample } from './random.ts'
import { FULL, type World } from './world.ts'

// Safety rule S3 over GraphQL: a filter is never dropped. Whatever is found by a condition is found without it, too,
// and not by its contrary: a condition that was passed over would find all, both times.

let world: World
test.before(async () => {
  world = await openOracleWorld()
  await hide(world, await fill(world), SECRETS[0])
})
test.after.always(() => world?.close())

interface Found {
  readonly data: readonly { readonly id: string }[]
}

interface Answer {
  readonly data?: Readonly<Record<string, Found | null>>
  readonly errors?: readonly { readonly message: string; readonly extensions: { readonly code: string } }[]
}

async function ask(query: string): Promise<Answer> {
  const { text } = await world.ask('POST', '/graphql', { as: FULL, body: JSON.stringify({ query }) })
  return JSON.parse(text)
}

/** For each scalar a value of some document, if possible, and one that no document has. */
const VALUES: Readonly<Record<string, readonly [string, string]>> = {
  ID: ['"1"', '"none"'],
  String: ['"whisper"', '"nowhere"'],
  Int: ['5', '77'],
  Long: ['7', '"9007199254740993"'],
  Float: ['7', '0.125'],
  Boolean: ['true', 'false'],
  Date: ['"2001-02-03"', '"1990-01-01"'],
  Time: ['"10:00:00"', '"11:11:11.111"'],
  DateTime: ['"2001-02-03T00:00:00.000Z"', '"1990-01-01T00:00:00+02:00"'],
  JSON: ['{ text: "whisper" }', '[1]'],
  I18NLocaleCode: ['"en"', '"fr"'],
}

const named = (type: GraphQLInputObjectType, name: string) => {
  const field = type.getFields()[name]
  if (!field) throw new Error(`${type.name} has no ${name}`)
  return getNamedType(field.type)
}

/** Conditions of an input type: each operator of each of its attributes, over `hops` relations and components. */
function conditionsOf(type: GraphQLInputObjectType, hops: number): readonly string[] {
  return Object.keys(type.getFields()).flatMap(name => {
    const inner = named(type, name)
    if (['and', 'or', 'not'].includes(name) || !isInputObjectType(inner)) return []
    const isScalar = inner.getFields().eq !== undefined
    if (isScalar) return operatorsOf(inner).map(condition => `{ ${name}: ${condition} }`)
    const below = hops === 0 ? [] : conditionsOf(inner, hops - 1)
    return ['{ not: {} }', ...below].map(condition => `{ ${name}: ${condition} }`)
  })
}

function operatorsOf(type: GraphQLInputObjectType): readonly string[] {
  const [some, none] = VALUES[String(named(type, 'eq'))] ?? ['null', 'null']
  return Object.keys(type.getFields()).flatMap(name => {
    if (name === 'null' || name === 'notNull') return [`{ ${name}: true }`, `{ ${name}: false }`]
    if (name === 'not') return [`{ not: { eq: ${some} } }`, `{ not: { not: { in: [${none}] } } }`]
    if (name === 'in' || name === 'notIn') return [`{ ${name}: [${some}, ${none}] }`, `{ ${name}: [] }`]
    if (['and', 'or', 'between'].includes(name)) return [`{ ${name}: [${some}, ${none}] }`]
    return [`{ ${name}: ${some} }`, `{ ${name}: ${none} }`]
  })
}

const LISTS = ['articles', 'authors', 'categories', 'restaurants', 'dishes', 'countries', 'uploadFiles']

/** The number of conditions of an operation, each with its negation. */
const AT_ONCE = 25

/** Conditions over a relation or in a component, of each list. */
const SAMPLE = 150

test('no condition on any attribute by any operator is ignored or finds more', async t => {
  const introspected = await ask(getIntrospectionQuery())
  const query = buildClientSchema(introspected.data as never).getQueryType()
  const random = numbersFrom(20_261_121)
  let answered = 0
  for (const list of LISTS) {
    const args = query?.getFields()[list]?.args ?? []
    const type = getNamedType(args.find(({ name }) => name === 'filters')?.type)
    if (!isInputObjectType(type)) return t.fail(`${list} takes no filters`)
    const hasDrafts = args.some(({ name }) => name === 'publicationState')
    const terms = `pagination: { limit: 100 }${hasDrafts ? ', publicationState: PREVIEW' : ''}`
    const conditions = [...conditionsOf(type, 0), ...sample(random, conditionsOf(type, 1), SAMPLE)]
    const judged = await judge({ list, terms, conditions })
    t.deepEqual(judged.faults, [])
    answered += judged.answered
  }
  t.true(answered > 1000, `${answered} conditions were answered`)
})

interface Judging {
  readonly list: string
  readonly terms: string
  readonly conditions: readonly string[]
}

async function judge({ list, terms, conditions }: Judging) {
  const all = idsOf((await ask(`{ all: ${list}(${terms}) { data { id } } }`)).data?.all) ?? []
  const faults: string[] = all.length > 0 || list === 'uploadFiles' ? [] : [`${list} has no documents`]
  let answered = 0
  for (let from = 0; from < conditions.length; from += AT_ONCE) {
    const some = conditions.slice(from, from + AT_ONCE)
    const parts = some.flatMap((condition, at) => [
      `is${at}: ${list}(${terms}, filters: ${condition}) { data { id } }`,
      `not${at}: ${list}(${terms}, filters: { not: ${condition} }) { data { id } }`,
    ])
    const { data = {}, errors = [] } = await ask(`{ ${parts.join('\n')} }`)
    const inside = errors.filter(({ extensions }) => !REFUSALS.includes(extensions.code))
    faults.push(...inside.map(({ message }) => `${list}: ${message}: ${some.join(' ')}`))
    for (const [at, condition] of some.entries()) {
      const [is, not] = [idsOf(data[`is${at}`]), idsOf(data[`not${at}`])]
      const fault = wrongWith(is, not, all)
      if (fault) faults.push(`${list}(${condition}) ${fault}`)
      if (is) answered++
    }
  }
  return { faults, answered }
}

const REFUSALS = ['BAD_USER_INPUT', 'FORBIDDEN']

type Ids = readonly string[] | null

function wrongWith(is: Ids, not: Ids, all: readonly string[]): string | null {
  if (!is || !not) return is || not ? 'is refused one way, and answered the other' : null
  if ([...is, ...not].some(id => !all.includes(id))) return 'finds more'
  return is.some(id => not.includes(id)) ? 'is dropped' : null
}

const idsOf = (answer: Found | null | undefined): Ids => (answer ? answer.data.map(({ id }) => id) : null)
