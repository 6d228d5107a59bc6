import test from 'ava'
import type { Selection } from '../../core/query/query.ts'
import { parseQueries } from '../graphql/operations.ts'
import { golden, goldenBlueprint, goldenCases, parseRequest, printQuery, toStatement } from './golden.ts'

const blueprint = await goldenBlueprint()

for (const { name, request, operations } of goldenCases()) {
  const { query, shape } = parseRequest(request, blueprint)

  test(`${name}: the request is parsed to this query`, t => {
    t.is(printQuery(query), golden(name, 'query.json', printQuery(query)))
  })

  test(`${name}: the query is printed as this single statement with parameters`, t => {
    const { text, values } = toStatement(query, shape, blueprint)
    const printed = `${text.replaceAll(/ (FROM|WHERE|ORDER BY|UNION ALL|JOIN) /g, '\n$1 ')}\n\n${JSON.stringify(values)}\n`
    t.is(printed, golden(name, 'statement.sql', printed))
  })

  for (const format of ['nested', 'flat'] as const) {
    const operation = operations[format]
    if (operation === null) continue
    test(`${name}: GraphQL (${format}) parses the same query as REST, but with pages for nested lists`, t => {
      const queries = parseQueries(operation, blueprint.model, LIMITS, format)
      t.deepEqual(
        queries.map(each => JSON.parse(printQuery(each))),
        [JSON.parse(printQuery({ ...query, selection: paged(query.selection) }))],
      )
    })
  }
}

const PAGE = { start: 0, limit: 25 }
const LIMITS = { amountLimit: 100, defaultLimit: PAGE.limit }

/** reference/graphql.md#5-pagination: relations and repeatable components have a page; REST knows none there (reference/rest.md#8-populate). */
const paged = (selection: Selection): Selection => ({
  ...selection,
  populate: selection.populate.map(populate => {
    if ('parts' in populate) return populate
    const many = populate.kind === 'link' ? populate.attribute.many : populate.attribute.repeatable
    return { ...populate, page: many ? PAGE : null, selection: paged(populate.selection) }
  }),
})
