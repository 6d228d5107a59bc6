import test from 'ava'
import { trusted } from '../../core/access/brand.ts'
import type { Caller } from '../../core/access/caller.ts'
import { toStatement } from '../../core/documents/read/plan-once.ts'
import { outline } from '../../core/plan/fingerprint.ts'
import { planQuery } from '../../core/plan/plan-query.ts'
import type { Filter, RestrictedQuery } from '../../core/query/query.ts'
import { parameter } from '../../core/sql/build.ts'
import { quoteIdentifier, quoteText } from '../../core/sql/identifier.ts'
import { printAnswerStatement } from '../../core/sql/print.ts'
import { bind, moveParameters, toKeep } from '../../core/sql/statement.ts'
import { numbersFrom, pick, type Random } from '../end-to-end/fuzz.ts'
import { parseListQuery, parseOneQuery, parseQueryString, restrict } from '../harness/attempts.ts'
import { must, parseRequest, toStatement as printOne, ruledBlueprint, ruledCallers } from './golden.ts'

const print = await ruledBlueprint()

const callers: readonly [Caller, ...Caller[]] = [print.access.publicCaller, ...ruledCallers(print)]

const TEXTS = ['a', "o'", '%_\\', '$1', ''] as const
const NUMBERS = ['0', '1', '7', '-3'] as const

const comparison = (random: Random, name: string): string =>
  pick(random, [
    `[${name}][$eq]=${pick(random, TEXTS)}`,
    `[${name}][$containsi]=${encodeURIComponent(pick(random, TEXTS))}`,
    `[${name}][$nei]=${pick(random, TEXTS)}`,
    `[${name}][$in][0]=${pick(random, TEXTS)}&F[${name}][$in][1]=b`,
    `[${name}][$null]=${pick(random, ['true', 'false'])}`,
    `[${name}]=${pick(random, TEXTS)}`,
  ])

function condition(random: Random): string {
  const number = `[$gt]=${pick(random, NUMBERS)}`
  return pick(random, [
    comparison(random, 'title'),
    `[views]${number}`,
    `[price][$between][0]=${pick(random, NUMBERS)}&F[price][$between][1]=${pick(random, NUMBERS)}`,
    comparison(random, 'author][name'),
    comparison(random, 'tags][articles][title'),
    `[$not]${comparison(random, 'author][name')}`,
    `[$or][0]${comparison(random, 'title')}&F[$or][1]${comparison(random, 'tags][name')}`,
    `[links]${comparison(random, 'label')}`,
    `[stamp][$lt]=${pick(random, ['1000', '2000'])}`,
  ])
}

const filters = (random: Random, at = 'filters'): string =>
  `${at}${condition(random)}`.replaceAll('&F[', `&${at}[`)

function search(random: Random): string {
  const parts = [
    () => filters(random),
    () => `sort=${pick(random, ['title', 'author.name:desc,price', 'tags.weight:asc', 'links.label'])}`,
    () =>
      `pagination[start]=${pick(random, ['0', '5', '30', '2000'])}&pagination[limit]=${pick(random, ['1', '25'])}`,
    () => 'pagination[withCount]=false',
    () => `fields=${pick(random, ['title', 'title,price', '*'])}`,
    () =>
      `populate=${pick(random, ['*', 'author,tags', 'tags.articles.author', 'gallery', 'related.related'])}`,
    () => filters(random, 'populate[related][filters]'),
    () => `populate[tags][sort]=name&populate[tags][count]=${pick(random, ['true', 'false'])}`,
    () => 'populate[blocks][on][blocks.quote][populate]=author',
    () => `locale=${pick(random, ['en', 'fr', '*'])}`,
    () => `status=${pick(random, ['draft', 'published'])}`,
    () =>
      `publicationFilter=${pick(random, ['modified', 'never-published-document', 'published-with-draft'])}`,
    () => `_q=${pick(random, TEXTS)}`,
  ]
  return parts
    .filter(() => random() < 0.2)
    .map(part => part())
    .join('&')
}

/** null: refused. */
function query(random: Random): RestrictedQuery | null {
  const type = print.model.contentTypes.get('api::article.article')
  if (!type) throw new Error('no article')
  const parameters = parseQueryString(search(random))
  if (!parameters.ok) return null
  const options = { model: print.model, settings: print.project.settings.rest }
  const list = parseListQuery(type, parameters.value, options)
  const one = parseOneQuery(type, pick(random, ['one', 'two']), parameters.value, options)
  const parsed = random() < 0.3 ? one : list.ok ? { ok: true as const, value: list.value.query } : list
  const restricted = parsed.ok ? restrict(parsed.value, pick(random, callers)) : parsed
  return restricted.ok ? restricted.value : null
}

const shapes = ['flat', 'v4'] as const

test('a statement does not depend on the requests before it', t => {
  const random = numbersFrom(4)
  const keys = new Set<string>()
  let asked = 0
  for (let turn = 0; turn < 6000; turn++) {
    const made = query(random)
    if (!made) continue
    asked++
    const options = {
      storage: print.storage,
      defaultLocale: print.model.defaultLocale,
      shape: pick(random, shapes),
    }
    keys.add(outline(made, options).key)
    const alone = printAnswerStatement(planQuery(made, options))
    t.deepEqual(toStatement(made, options), alone)
    if (made.take.kind !== 'one') continue
    const documentId = pick(random, ['y', 'z'])
    const own = trusted({ ...made, take: { kind: 'one', documentId } })
    t.deepEqual(toStatement(made, options, documentId), printAnswerStatement(planQuery(own, options)))
  }
  t.true(asked > 3000, `${asked} were no refusals`)
  t.true(keys.size < asked * 0.8, `${keys.size} kinds of ${asked} queries: hardly any came again`)
})

test('pages near the first share few statement texts, which bound the rows that a plan expects', t => {
  const reachOf = (list: string): string | undefined => {
    const { query, shape } = parseRequest(`GET /api/tags?${list}`, print)
    return / LIMIT (\d+)\) t1\$ LIMIT \(SELECT/.exec(printOne(query, shape, print).text)?.[1]
  }
  const page = (start: number, limit: number): string =>
    `pagination[start]=${start}&pagination[limit]=${limit}`
  t.deepEqual([page(1, 1), page(39, 25), page(40, 25), page(975, 25)].map(reachOf), [
    '64',
    '64',
    '256',
    '1024',
  ])
  t.deepEqual(
    [page(231, 25), page(232, 25)].map(list => reachOf(`sort=name&${list}`)),
    ['256', undefined],
  )
  t.deepEqual([page(0, 25), page(1000, 25), `${page(25, 25)}&filters[name]=a`].map(reachOf), [
    undefined,
    undefined,
    undefined,
  ])
})

test('two equal conditions differ from one condition used in two places', t => {
  const type = print.model.contentTypes.get('api::article.article')
  const attribute = type?.attributes.get('title')
  if (!type || attribute?.kind !== 'scalar') throw new Error('no article with a title')
  const options = { storage: print.storage, defaultLocale: print.model.defaultLocale, shape: 'flat' as const }
  const settings = print.project.settings.rest
  const plain = must(parseOneQuery(type, 'x', {}, { model: print.model, settings }))
  const titled = (value: string): Filter => ({
    kind: 'comparison',
    attribute,
    operator: '$eq',
    values: [value],
  })
  const [a, b] = [titled('a'), titled('b')]
  for (const filters of [
    [a, a],
    [a, b],
    [b, a],
    [b, b],
  ]) {
    const made = trusted({ ...plain, filter: { kind: 'or', filters } })
    t.deepEqual(toStatement(made, options), printAnswerStatement(planQuery(made, options)))
  }
})

test('a cached statement contains none of the values of its first use', t => {
  const kept = toKeep({
    text: 'SELECT $1::text, $2::text',
    parameters: [parameter('x'.repeat(100_000), 'text', 0), parameter('always', 'text')],
  })
  t.true(JSON.stringify(kept).length < 1000)
  t.deepEqual(bind(kept, ['y']).values, ['y', 'always'])
})

test('a statement as part of another one has its parameters moved, and what is quoted is not', t => {
  const quoted = [`it's $1`, '\\', `\\'$2`].map(quoteText).join() + quoteIdentifier('a"$3')
  const text = `${quoted} $1::text, $12::text[] ${quoted} $2`
  t.is(moveParameters(text, 0), text)
  t.is(moveParameters(text, 3), `${quoted} $4::text, $15::text[] ${quoted} $5`)
})
