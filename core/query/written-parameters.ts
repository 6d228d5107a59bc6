import { isDeepStrictEqual } from 'node:util'
import { didYouMean } from '../base/nearest.ts'
import { ValidationError } from '../faults/errors.ts'
import { isRecord } from './parse-place.ts'

/** Parameters that routes of the content API read. Others of the client are ignored, as in Strapi. */
const PARAMETERS: readonly string[] = [
  ...['populate', 'filters', 'sort', 'fields', 'pagination', 'status', 'locale', '_q'],
  ...['publicationFilter', 'hasPublishedVersion', 'publicationState', 'start', 'limit', 'id'],
  ...['search', 'highlight', 'pLevel'],
]

const PAGE_PARAMETERS: readonly string[] = ['page', 'pageSize', 'start', 'limit', 'withCount', 'after']

type Parameters = Readonly<Record<string, unknown>>

interface WrittenPlace {
  /** `context.query` */
  readonly where: string
  /** Further names that code may write there. */
  readonly also?: readonly string[]
}

/** Refuses misspelled parameters that code of the project wrote, which would be ignored. `original`: those of the client. */
export function assertWrittenParameters(
  written: Parameters,
  original: Parameters,
  { where, also = [] }: WrittenPlace,
): void {
  assertNames(written, original, { where, known: [...PARAMETERS, ...also] })
  const { pagination } = written
  if (pagination == null || isDeepStrictEqual(pagination, original.pagination)) return
  const page = `pagination of ${where}`
  if (!isRecord(pagination)) throw new ValidationError(`${page} must be an object`, { key: 'pagination' })
  const before = isRecord(original.pagination) ? original.pagination : {}
  assertNames(pagination, before, { where: page, known: PAGE_PARAMETERS })
}

interface KnownNames {
  readonly where: string
  readonly known: readonly string[]
}

function assertNames(written: Parameters, original: Parameters, { where, known }: KnownNames): void {
  const unknown = Object.keys(written).find(key => !Object.hasOwn(original, key) && !known.includes(key))
  if (unknown === undefined) return
  const hint = didYouMean(unknown, known)
  throw new ValidationError(`Unknown parameter ${unknown} of ${where}${hint}`, { key: unknown })
}
