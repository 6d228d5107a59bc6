import { groupBy } from '../base/plain-data.ts'
import type { ScalarAttribute } from '../model/model.ts'
import type { TypeSearch } from '../model/storage.ts'
import type { Query, TextSearch } from '../query/query.ts'
import {
  allOf,
  anyOf,
  binary,
  call,
  cast,
  column,
  FALSE,
  parameter,
  select,
  sqlConstant,
  TRUE,
} from '../sql/build.ts'
import type { Expression, NamedColumn } from '../sql/nodes.ts'
import { COORDINATE } from '../sql/search-ddl.ts'
import { planScalar } from './comparison.ts'
import type { PlanContext, Row } from './row.ts'

/** A full-text search on a row. */
interface SearchPlan {
  readonly match: Expression
  /** Higher is better. */
  readonly rank: Expression
  /** The key `_highlight` of a document; empty: none is requested. */
  readonly highlight: readonly NamedColumn[]
}

/** A text search configuration, and the test for the rows that it applies to; null: all rows. */
interface Variant {
  readonly configuration: Expression
  readonly applies: Expression | null
  /** The locales of these rows; null: unknown, or a type without locales. */
  readonly codes: readonly string[] | null
}

/** Plans `search` on the vector of exactly the readable paths, or else on the largest vector within them (docs/search.md). */
export function planTextSearch(query: Query, search: TextSearch, row: Row, context: PlanContext): SearchPlan {
  const stored = context.storage.search(query.type)
  const vector = stored?.vectors.find(({ paths }) => [...paths].every(path => search.paths.includes(path)))
  if (!stored || !vector) return { match: FALSE, rank: NO_RANK, highlight: [] }
  const variants = variantsOf(query, stored, row)
  const own = column(row.alias, vector.column)
  const text = parameter(search.text, 'text', context.parameterPlace(search))
  const matching = ({ configuration }: Variant) =>
    call('websearch_to_tsquery', configuration, call('plinth_plain', text))
  const match = anyOf(
    variants.map(each => {
      const test = binary(own, '@@', withCoordinates(matching(each), each, row, context))
      // Without words, a query with coordinates would match every row.
      const hasWords = binary(call('numnode', matching(each)), '>', sqlConstant(0))
      return allOf([each.applies ?? TRUE, hasWords, test])
    }),
  )
  const rank = byVariant(variants, each => call('ts_rank', own, matching(each)))
  const excerpt = (attribute: ScalarAttribute) =>
    byVariant(variants, each =>
      call('plinth_highlight', each.configuration, textOf(attribute, row, context), matching(each)),
    )
  const columns = search.highlight.map(attribute => ({ as: attribute.name, expression: excerpt(attribute) }))
  const highlight = {
    as: '_highlight',
    expression: { kind: 'row-json', select: select({ columns }) },
  } as const
  return { match, rank, highlight: columns.length === 0 ? [] : [highlight] }
}

/** Not a bare constant: ORDER BY takes that for the number of a column. */
const NO_RANK = cast(sqlConstant(0), 'double precision')

/** The index finds no rows of other locales or status. The conditions on the columns decide all the same. */
function withCoordinates(
  query: Expression,
  { codes }: Variant,
  row: Row,
  { storage }: PlanContext,
): Expression {
  const { status } = storage.table(row.root)
  const lexeme = (value: string) => `'${COORDINATE}${value}'`
  const terms = [
    ...(codes ? [`(${codes.map(lexeme).join(' | ')})`] : []),
    ...(status !== null && row.status !== 'latest' ? [lexeme(row.status)] : []),
  ]
  return terms.length === 0
    ? query
    : call('tsquery_and', query, cast(sqlConstant(terms.join(' & ')), 'tsquery'))
}

function textOf(attribute: ScalarAttribute, row: Row, context: PlanContext): Expression {
  const own = planScalar(row, attribute, context)
  return attribute.type === 'blocks' ? call('plinth_blocks_text', own) : own
}

/** One variant for each configuration of the requested locales, so that an index serves each. */
function variantsOf({ locale, take }: Query, { configurations }: TypeSearch, row: Row): readonly Variant[] {
  const [standard = 'simple'] = configurations.values()
  const isAny = locale.kind === 'all' || (take.kind === 'one' && take.recordId !== undefined)
  const codes = isAny ? [...configurations.keys()] : locale.codes
  const byName = groupBy(codes, code => configurations.get(code) ?? standard)
  const own = row.locale
  if (own === null) return [{ configuration: toConfiguration(standard), applies: null, codes: null }]
  return [...byName].map(([name, among]) => ({
    configuration: toConfiguration(name),
    applies:
      byName.size === 1
        ? null
        : { kind: 'list-test', negated: false, left: own, list: parameter(among, 'text') },
    codes: among.every(code => configurations.has(code)) ? among : null,
  }))
}

const toConfiguration = (name: string): Expression => cast(sqlConstant(`pg_catalog.${name}`), 'regconfig')

function byVariant(variants: readonly Variant[], make: (variant: Variant) => Expression): Expression {
  const [first, ...others] = variants
  if (!first) return sqlConstant(null)
  return others.reduceRight<Expression>(
    (otherwise, each) =>
      each.applies ? { kind: 'case', when: each.applies, value: make(each), otherwise } : make(each),
    make(first),
  )
}
