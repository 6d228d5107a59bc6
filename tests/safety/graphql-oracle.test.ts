import test from 'ava'
import { SCALAR_NAMES } from '../../core/graphql/sdl/scalar-names.ts'
import type { Attribute } from '../../core/model/model.ts'
import { graphqlQueryNames, graphqlTypeName } from '../../core/model/names.ts'
import { numbersFrom } from '../end-to-end/fuzz.ts'
import { type HiddenWay, hiddenWays, type Policy, type Step } from './hidden.ts'
import { type Documents, fill, hide, NARROW, openOracleWorld, POLICIES, SECRETS } from './oracle-world.ts'
import { sample } from './random.ts'
import { FULL, type Reported, typeOf, type World } from './world.ts'

// Safety rule S1 over GraphQL: all that is hidden from a caller, in filters, sorts and selections, at the top and inside
// lists, over no and one relation; beyond that a sample.
const SAMPLE = 300
const SEED = 20_261_121

let world: World
let documents: Documents
test.before(async () => {
  world = await openOracleWorld()
  documents = await fill(world)
})
test.after.always(() => world?.close())

const LISTED = ['article', 'author', 'category', 'restaurant', 'dish', 'country', 'capital', 'user', 'file']

interface Question {
  readonly by: string
  readonly query: string
  readonly policy: Policy
}

function* casesOf(policy: Policy, hops: number): Generator<Question> {
  for (const key of LISTED) {
    if (policy.closed.includes(key)) continue
    for (const way of hiddenWays(typeOf(world.model, key), policy, hops))
      for (const [by, query] of questionsOn(way)) yield { by, query, policy }
  }
}

const OPERATORS = ['eq', 'eqi', 'ne', 'contains', 'notContainsi', 'startsWith', 'gt', 'lte']

function* questionsOn({ start, steps, attribute }: HiddenWay): Generator<readonly [string, string]> {
  const { many } = graphqlQueryNames(start)
  for (const filter of filtersOn(attribute)) {
    const filters = nest(steps, filter)
    yield ['filters', `{ ${many}(filters: ${filters}) { data { id } meta { pagination { total } } } }`]
    yield ['filters', `{ ${many}(filters: { not: ${filters} }) { data { id } } }`]
    yield ['filters', `{ ${many}(filters: { or: [{ id: { null: true } }, ${filters}] }) { data { id } } }`]
  }
  const dotted = [...steps, attribute].map(({ name }) => name).join('.')
  for (const sort of [dotted, `${dotted}:desc`, `id,${dotted}`])
    yield ['sort', `{ ${many}(sort: "${sort}") { data { id } } }`]
  const inner =
    attribute.kind === 'scalar' ? '' : attribute.kind === 'component' ? ' { id }' : ' { data { id } }'
  yield ['selection', `{ ${many} { data { attributes ${select(steps, `{ ${attribute.name}${inner} }`)} } } }`]
  const [last, above] = [steps.at(-1), steps.slice(0, -1)]
  if (!last || last.via === 'zone') return
  for (const filter of filtersOn(attribute)) {
    const list = `{ ${last.name}(filters: ${filter}) ${last.via === 'component' ? '{ id }' : '{ data { id } }'} }`
    yield ['inner filters', `{ ${many} { data { attributes ${select(above, list)} } } }`]
  }
  const list = `{ ${last.name}(sort: "${attribute.name}") ${last.via === 'component' ? '{ id }' : '{ data { id } }'} }`
  yield ['inner sort', `{ ${many} { data { attributes ${select(above, list)} } } }`]
}

const nest = (steps: readonly Step[], filter: string): string =>
  steps.reduceRight((inner, { name }) => `{ ${name}: ${inner} }`, filter)

const select = (steps: readonly Step[], selection: string): string =>
  steps.reduceRight((inner, { name, via, end }) => {
    if (via === 'component') return `{ ${name} ${inner} }`
    if (via === 'zone') return `{ ${name} { ... on ${graphqlTypeName(end)} ${inner} } }`
    return `{ ${name} { data { attributes ${inner} } } }`
  }, selection)

function filtersOn({ name, ...attribute }: Attribute): readonly string[] {
  if (attribute.kind !== 'scalar')
    return [`{ ${name}: { id: { notNull: true } } }`, `{ ${name}: { id: { eq: "1" } } }`]
  const guess = guessAt(attribute.type, name)
  return [
    ...OPERATORS.map(operator => `{ ${name}: { ${operator}: ${guess} } }`),
    `{ ${name}: { in: [${guess}] } }`,
    `{ ${name}: { between: [${guess}, ${guess}] } }`,
    `{ ${name}: { null: true } }`,
    `{ ${name}: { not: { eq: ${guess} } } }`,
  ]
}

/** The right value of what is hidden first, as its scalar takes it. */
function guessAt(type: keyof typeof SCALAR_NAMES, name: string): string {
  const [{ text, number, moment, flag, kind }] = SECRETS
  switch (SCALAR_NAMES[type]) {
    case 'Int':
    case 'Long':
    case 'Float':
      return String(number)
    case 'Boolean':
      return String(flag)
    case 'Date':
      return `"${moment}"`
    case 'DateTime':
      return `"${moment}T00:00:00.000Z"`
    case 'Time':
      return '"10:00:00"'
    default:
      return name === 'email' ? `"${kind}@x.test"` : type === 'enumeration' ? `"${kind}"` : `"${text}"`
  }
}

async function judge(cases: readonly Question[]): Promise<readonly string[]> {
  const [first, then] = SECRETS
  await hide(world, documents, first)
  const before = await askAll(cases)
  await hide(world, documents, then)
  const after = await askAll(cases)
  return cases.flatMap(({ by, query }, index) => {
    const [one, two] = [before[index], after[index]]
    const wrong = one && two ? wrongWith(one, two) : 'was not asked'
    return wrong === null ? [] : [`${by} ${wrong}: ${query}`]
  })
}

async function askAll(cases: readonly Question[]): Promise<readonly Reported[]> {
  const answers: Reported[] = []
  for (const { query, policy } of cases) answers.push(await ask(query, policy.token))
  return answers
}

const ask = (query: string, as: string): Promise<Reported> =>
  world.ask('POST', '/graphql', { as, body: JSON.stringify({ query }) })

function wrongWith(one: Reported, two: Reported): string | null {
  if (one.status !== two.status || one.text !== two.text) return 'tells of what is hidden'
  if (/whisper|quite another|\$2[aby]\$/.test(one.text.replaceAll(/"errors":.*?"data"/g, '')))
    return 'shows what is hidden'
  if (one.status >= 500) return `was answered ${one.status}`
  const { errors = [] } = JSON.parse(one.text)
  const codes = errors.map((error: { extensions: { code: string } }) => error.extensions.code)
  if (codes.length === 0) return 'was answered'
  return codes.includes('INTERNAL_SERVER_ERROR') ? 'failed inside' : null
}

for (const policy of POLICIES)
  test.serial(`attributes hidden from ${policy.name} are refused on every path of GraphQL`, async t => {
    const random = numbersFrom(SEED)
    const cases = [0, 1].flatMap(hops => sample(random, [...casesOf(policy, hops)], SAMPLE))
    t.true(cases.length > 100, `${cases.length} questions`)
    t.deepEqual(await judge(cases), [])
  })

test.serial('GraphQL returns nothing hidden over two and three relations', async t => {
  const random = numbersFrom(SEED + 2)
  const cases = [2, 3].flatMap(hops => sample(random, [...casesOf(NARROW, hops)], SAMPLE))
  t.deepEqual(await judge(cases), [])
})

test.serial('the GraphQL queries are effective: full access gets results', async t => {
  await hide(world, documents, SECRETS[0])
  const asked = sample(numbersFrom(SEED), [...casesOf(NARROW, 0), ...casesOf(NARROW, 1)], SAMPLE)
  const answers: Reported[] = []
  for (const { query } of asked) answers.push(await ask(query, FULL))
  t.true(answers.filter(({ text }) => !text.includes('"errors"')).length > asked.length / 3)
})
