import { type Fault, fault, RequestFault } from '../../faults/fault.ts'
import type { ContentType, Model } from '../../model/model.ts'
import { isRecord } from '../../query/parse-place.ts'
import {
  type LocaleChoice,
  PUBLICATION_FILTERS,
  type PublicationFilter,
  STATUSES,
  type Status,
} from '../../query/query.ts'
import type { Params } from '../action-params.ts'

const ALL_LOCALES: LocaleChoice = { kind: 'all' }

/** `status` (contract 0): exactly `draft` or `published`; absent: `published`. */
export function parseStatusParam(raw: unknown): Status {
  if (raw === undefined) return 'published'
  const status = STATUSES.find(word => word === raw)
  if (!status) throw invalidWord('status', STATUSES)
  return status
}

/** `publicationFilter` (contract 10); ignored for types without drafts. */
export function parsePublication(
  type: ContentType,
  { publicationFilter, hasPublishedVersion }: Params,
): PublicationFilter | null {
  if (!type.draftAndPublish) return null
  if (publicationFilter !== undefined) {
    const word = PUBLICATION_FILTERS.find(known => known === publicationFilter)
    if (!word) throw invalidWord('publicationFilter', PUBLICATION_FILTERS)
    return word
  }
  if (hasPublishedVersion === undefined) return null
  if (hasPublishedVersion === 'true') return 'has-published-version'
  if (hasPublishedVersion === 'false') return 'never-published'
  throw invalidWord('hasPublishedVersion', ['true', 'false'])
}

const invalidWord = (key: string, expected: readonly string[]): RequestFault =>
  new RequestFault(
    fault('validation', `Invalid value for ${key}: expected ${expected.join(' or ')}`, { key, expected }),
  )

interface LocaleOptions {
  readonly model: Model
  /** True for lists, which may contain several locales. */
  readonly many: boolean
}

/** A filter on the locale replaces `locale` and its default, as in Strapi. */
export function parseLocales(
  type: ContentType,
  { locale, filters }: Params,
  options: LocaleOptions,
): LocaleChoice {
  const parsed = parseLocale(type, locale, options)
  return isRecord(filters) && Object.hasOwn(filters, 'locale') ? ALL_LOCALES : parsed
}

/** `locale` (contract 11): `*` and several locales are for lists only; unknown locales find nothing. */
function parseLocale(type: ContentType, raw: unknown, { model, many }: LocaleOptions): LocaleChoice {
  if (!type.localized) return ALL_LOCALES
  if (raw === undefined || raw === '') return { kind: 'these', codes: [model.defaultLocale] }
  if (typeof raw === 'string')
    return many && raw === '*' ? ALL_LOCALES : { kind: 'these', codes: [storable(raw)] }
  const codes = Array.isArray(raw) ? raw.filter(code => typeof code === 'string') : []
  if (!many || codes.length === 0 || codes.length !== (raw as readonly unknown[]).length)
    throw new RequestFault(badLocale(raw))
  return { kind: 'these', codes: codes.map(storable) }
}

/** Locale of a write (contract 11): one of the project's, by default its default locale; null for types without locales. */
export function parseWrittenLocale(
  type: ContentType,
  raw: unknown,
  { locales, defaultLocale }: Model,
): string | null {
  if (!type.localized) return null
  if (raw === undefined || raw === '') return defaultLocale
  if (typeof raw !== 'string' || raw === '*') throw new RequestFault(badLocale(raw))
  const codes = locales.map(({ code }) => code)
  if (!codes.includes(raw)) throw new RequestFault(unknownLocale(raw, codes))
  return raw
}

/** Locale of a delete: as for a write; `*` is null and means all locales. */
export const parseDeletedLocale = (type: ContentType, raw: unknown, model: Model): string | null =>
  raw === '*' ? null : parseWrittenLocale(type, raw, model)

const unknownLocale = (code: string, known: readonly string[]): Fault =>
  fault('validation', `Unknown locale ${code}: the locales are ${known.join(', ')}`, {
    key: 'locale',
    expected: known,
  })

/** PostgreSQL cannot store NUL, so no locale contains it: replaced, the code finds nothing. */
const storable = (code: string): string => code.replaceAll('\0', '?')

const badLocale = (raw: unknown): Fault => {
  const printed = (Array.isArray(raw) ? raw : [raw]).map(printCode)
  return fault(
    'validation',
    `Invalid locale param ${printed.join(',')} provided. Document locales must be strings.`,
  )
}

const printCode = (raw: unknown): string => (typeof raw === 'string' ? raw : JSON.stringify(raw))
