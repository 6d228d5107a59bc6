import { type Fault, fault, invalidKey, RequestFault } from '../faults/fault.ts'
import type { ContentType, ScalarAttribute } from '../model/model.ts'
import { searchFields } from '../model/search.ts'
import type { TextSearch } from './query.ts'

/** The parameters of a search, as a client sends them. */
export interface TextSearchParams {
  readonly search?: unknown
  readonly highlight?: unknown
  readonly sort?: unknown
}

/** In UTF-16 units. */
export const MAX_SEARCH_LENGTH = 256

/** Separated by blanks. */
const MAX_WORDS = 16

/** Parses `search`, `highlight` and `sort=relevance` (docs/search.md). `name`: of the parameter with the text. null: no search. Throws a RequestFault. */
export function parseTextSearch(
  type: ContentType,
  { search, highlight, sort }: TextSearchParams,
  name: 'search' | 'q' = 'search',
): TextSearch | null {
  if (search == null || search === '') {
    if (highlight != null && highlight !== '')
      throw refusal(
        'highlight',
        'Invalid value for highlight: it marks the matches of `search`, which is missing',
      )
    return null
  }
  const text = parseText(type, search, name)
  const marked = parseHighlight(type, highlight)
  return {
    text,
    paths: searchFields(type).map(({ path }) => path),
    highlight: marked,
    byRank: isByRank(sort),
  }
}

function parseText(type: ContentType, raw: unknown, name: string): string {
  if (type.search === null)
    throw refusal(
      'search',
      `Invalid parameter search: \`${type.key}\` declares no \`search:\` in project.yaml`,
    )
  if (typeof raw !== 'string' || raw.includes('\0'))
    throw refusal(name, `Invalid value for ${name}: expected a text`)
  if (raw.length > MAX_SEARCH_LENGTH)
    throw refusal(name, `Invalid value for ${name}: at most ${MAX_SEARCH_LENGTH} characters`)
  if (raw.trim().split(/\s+/).length > MAX_WORDS)
    throw refusal(name, `Invalid value for ${name}: at most ${MAX_WORDS} words`)
  return raw.replaceAll(MANY_NEGATIONS, shortenNegations)
}

/** Eight or more dashes with neither a word nor a quote between them. */
const MANY_NEGATIONS = /-(?:[^\p{L}\p{N}"-]*-){7,}/gu

/** PostgreSQL refuses more than 32 negations of one word; two of them mean none. */
const shortenNegations = (dashes: string): string => (dashes.split('-').length % 2 === 0 ? '---' : '--')

/** Texts of the type itself that the search declares. The fault names no other attribute: the caller may not know them. */
function parseHighlight(type: ContentType, raw: unknown): readonly ScalarAttribute[] {
  if (raw == null || raw === '') return []
  const items: readonly unknown[] = Array.isArray(raw) ? raw : [raw]
  const own = searchFields(type).flatMap(({ attribute }) => (attribute.kind === 'scalar' ? [attribute] : []))
  const names = items.flatMap(item => {
    if (typeof item === 'string') return item.split(',').map(name => name.trim())
    throw refusal('highlight', 'Invalid value for highlight: expected names of searched attributes')
  })
  const found = names.map(name => {
    const attribute = own.find(each => each.name === name)
    if (attribute) return attribute
    throw new RequestFault(invalidHighlight(name))
  })
  return [...new Set(found)]
}

/** The same for attributes that do not exist, are not searched, or are hidden from the caller. */
export function invalidHighlight(name: string): Fault {
  const { message, ...others } = invalidKey(name, null, 'highlight')
  return { ...others, message: `${message} of highlight: expected a searched attribute of the type itself` }
}

const isNone = (sort: unknown): boolean =>
  sort == null || sort === '' || (Array.isArray(sort) && sort.every(isNone))

/** By relevance where no other sort is named. */
const isByRank = (sort: unknown): boolean => isNone(sort) || isRelevance(sort)

export const isRelevance = (sort: unknown): boolean =>
  sort === 'relevance' || (Array.isArray(sort) && sort.length === 1 && sort[0] === 'relevance')

const refusal = (key: string, message: string): RequestFault =>
  new RequestFault(fault('validation', message, { key }))
