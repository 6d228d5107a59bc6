import { groupBy } from '../base/plain-data.ts'
import { digestOf } from '../model/identifiers.ts'
import type { ScalarAttribute } from '../model/model.ts'
import { wordSourceOf } from '../model/search-words.ts'
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
import type { SimilarWords } from '../sql/search-typos-ddl.ts'
import { planScalar } from './comparison.ts'
import type { PlanContext, Row } from './row.ts'
import { isFoundByWords } from './search-matches.ts'

/** How the matches of a full-text search are ordered and shown. */
interface RankingPlan {
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

/** A search on the rows of one source. */
interface Searched {
  /** The vector of exactly the readable paths, or else the largest within them (docs/search.md). */
  readonly own: Expression
  readonly variants: readonly Variant[]
  /** The query of the words as they are. */
  readonly exact: (variant: Variant) => Expression
  /** What is searched instead of words that are not found (core/sql/search-typos-ddl.ts); null: typing errors are not corrected. */
  readonly similar: ((variant: Variant, part: SimilarWords) => Expression) | null
}

/** null: no vector lies within the readable paths. */
function searchedBy(query: Query, search: TextSearch, row: Row, context: PlanContext): Searched | null {
  const stored = context.storage.search(query.type)
  const vector = stored?.vectors.find(({ paths }) => [...paths].every(path => search.paths.includes(path)))
  if (!stored || !vector) return null
  const { words } = stored
  const text = call('plinth_plain', parameter(search.text, 'text', context.parameterPlace(search)))
  const sources = vector.texts.map(wordSourceOf).join(',')
  return {
    own: column(row.alias, vector.column),
    variants: variantsOf(query, stored, row),
    exact: ({ configuration }) => call('websearch_to_tsquery', configuration, text),
    similar:
      words === null
        ? null
        : ({ configuration }, part) => ({
            kind: 'shared-call',
            // A statement has one text of a search.
            name: `similar_${digestOf({ configuration, words, sources })}$`,
            call: call('plinth_similar_words', configuration, text, sqlConstant(words), sqlConstant(sources)),
            column: part,
          }),
  }
}

/**
 * Plans the condition of a search. `anyExact`: true if the caller finds a document by the words as they are; only otherwise
 * are typing errors corrected. null: they are not.
 */
export function planMatch(
  query: Query,
  search: TextSearch,
  row: Row,
  { context, anyExact }: { readonly context: PlanContext; readonly anyExact: (() => Expression) | null },
): Expression {
  const found = searchedBy(query, search, row, context)
  if (!found) return FALSE
  const { own, variants, exact, similar } = found
  // Of several indexed searches, PostgreSQL would expect more matches than a scan of the table is worth.
  const hasOnePlan = variants.length === 1 && !similar && isFoundByWords(query)
  return anyOf(
    variants.map(each => {
      const asked = withCoordinates(exact(each), each, row, context)
      const test = binary(own, '@@', hasOnePlan ? once(asked) : asked)
      // Without words, a query with coordinates would match every row.
      const hasWords = binary(call('numnode', exact(each)), '>', sqlConstant(0))
      const asTyped = allOf([hasWords, test])
      if (!similar || !anyExact) return allOf([each.applies ?? TRUE, asTyped])
      const corrected = withCoordinates(similar(each, 'query'), each, row, context)
      const unlessExact = {
        kind: 'case',
        when: anyExact(),
        value: sqlConstant(null),
        otherwise: corrected,
      } as const
      return allOf([each.applies ?? TRUE, anyOf([asTyped, binary(own, '@@', once(unlessExact))])])
    }),
  )
}

/** A subquery that depends on no row: PostgreSQL evaluates it once, and only if it is needed. It estimates the same for all words. */
const once = (expression: Expression): Expression => ({
  kind: 'subquery',
  select: select({ columns: [{ as: 'once', expression }] }),
})

/** Plans rank and excerpts. Matches of corrected words have ranks below 0. */
export function planRanking(query: Query, search: TextSearch, row: Row, context: PlanContext): RankingPlan {
  const found = searchedBy(query, search, row, context)
  if (!found) return { rank: NO_RANK, highlight: [] }
  const { own, variants, exact, similar } = found
  const either = (
    each: Variant,
    asTyped: Expression,
    corrected: (of: NonNullable<typeof similar>) => Expression,
  ) =>
    similar
      ? ({
          kind: 'case',
          when: binary(own, '@@', once(exact(each))),
          value: asTyped,
          otherwise: corrected(similar),
        } as const)
      : asTyped
  // A kept plan would parse the words for each row again.
  const rank = byVariant(variants, each =>
    either(each, call('ts_rank', own, once(exact(each))), of =>
      call('plinth_similar_rank', own, of(each, 'alternatives'), of(each, 'similarities')),
    ),
  )
  const excerpt = (attribute: ScalarAttribute) =>
    byVariant(variants, each => {
      const shown = either(each, exact(each), of => of(each, 'query'))
      return call('plinth_highlight', each.configuration, textOf(attribute, row, context), shown)
    })
  const columns = search.highlight.map(attribute => ({ as: attribute.name, expression: excerpt(attribute) }))
  const highlight = {
    as: '_highlight',
    expression: { kind: 'row-json', select: select({ columns }) },
  } as const
  return { rank, highlight: columns.length === 0 ? [] : [highlight] }
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
