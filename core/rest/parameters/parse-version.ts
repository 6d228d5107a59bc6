import { failed, ok, type Result } from '../../base/result.ts'
import { type Fault, fault } from '../../faults/fault.ts'
import type { ContentType, Model } from '../../model/model.ts'
import { isRecord } from '../../query/parse-place.ts'
import {
  type LocaleChoice,
  PUBLICATION_FILTERS,
  type PublicationFilter,
  STATUSES,
  type Status,
} from '../../query/query.ts'
import type { QueryParameters } from '../parse-query-string.ts'

const ALL_LOCALES: LocaleChoice = { kind: 'all' }

/** `status` (contract 0): exactly `draft` or `published`; absent: `published`. */
export function parseStatus(raw: unknown): Result<Status, Fault> {
  if (raw === undefined) return ok('published')
  const status = STATUSES.find(word => word === raw)
  return status ? ok(status) : failed(invalidWord('status', STATUSES))
}

/** `publicationFilter` (contract 10); ignored for types without drafts. */
export function parsePublication(
  type: ContentType,
  { publicationFilter, hasPublishedVersion }: QueryParameters,
): Result<PublicationFilter | null, Fault> {
  if (!type.draftAndPublish) return ok(null)
  if (publicationFilter !== undefined) {
    const word = PUBLICATION_FILTERS.find(known => known === publicationFilter)
    return word ? ok(word) : failed(invalidWord('publicationFilter', PUBLICATION_FILTERS))
  }
  if (hasPublishedVersion === undefined) return ok(null)
  if (hasPublishedVersion === 'true') return ok('has-published-version')
  return hasPublishedVersion === 'false'
    ? ok('never-published')
    : failed(invalidWord('hasPublishedVersion', ['true', 'false']))
}

const invalidWord = (key: string, expected: readonly string[]): Fault =>
  fault('validation', `Invalid value for ${key}: expected ${expected.join(' or ')}`, { key, expected })

interface LocaleTerms {
  readonly model: Model
  /** True for lists, which may contain several locales. */
  readonly many: boolean
}

/** A filter on the locale replaces `locale` and its default, as in Strapi. */
export function parseLocales(
  type: ContentType,
  { locale, filters }: QueryParameters,
  terms: LocaleTerms,
): Result<LocaleChoice, Fault> {
  const parsed = parseLocale(type, locale, terms)
  return parsed.ok && isRecord(filters) && Object.hasOwn(filters, 'locale') ? ok(ALL_LOCALES) : parsed
}

/** `locale` (contract 11): `*` and several locales are for lists only; unknown locales find nothing. */
function parseLocale(
  type: ContentType,
  raw: unknown,
  { model, many }: LocaleTerms,
): Result<LocaleChoice, Fault> {
  if (!type.localized) return ok(ALL_LOCALES)
  if (raw === undefined || raw === '') return ok({ kind: 'these', codes: [model.defaultLocale] })
  if (typeof raw === 'string')
    return ok(many && raw === '*' ? ALL_LOCALES : { kind: 'these', codes: [storable(raw)] })
  const codes = Array.isArray(raw) ? raw.filter(code => typeof code === 'string') : []
  if (!many || codes.length === 0 || codes.length !== (raw as readonly unknown[]).length)
    return failed(badLocale(raw))
  return ok({ kind: 'these', codes: codes.map(storable) })
}

/** Locale of a write (contract 11): one of the project's, by default its default locale; null for types without locales. */
export function parseWrittenLocale(
  type: ContentType,
  raw: unknown,
  { locales, defaultLocale }: Model,
): Result<string | null, Fault> {
  if (!type.localized) return ok(null)
  if (raw === undefined || raw === '') return ok(defaultLocale)
  if (typeof raw !== 'string' || raw === '*') return failed(badLocale(raw))
  const codes = locales.map(({ code }) => code)
  return codes.includes(raw) ? ok(raw) : failed(unknownLocale(raw, codes))
}

/** Locale of a delete: as for a write; `*` is null and means all locales. */
export const parseDeletedLocale = (
  type: ContentType,
  raw: unknown,
  model: Model,
): Result<string | null, Fault> => (raw === '*' ? ok(null) : parseWrittenLocale(type, raw, model))

const unknownLocale = (code: string, known: readonly string[]): Fault =>
  fault('validation', `Unknown locale ${code}: the locales are ${known.join(', ')}`, {
    key: 'locale',
    expected: known,
  })

/** PostgreSQL cannot store NUL, so no locale contains it: replaced, the code finds nothing. */
const storable = (code: string): string => code.replaceAll('\0', '?')

const badLocale = (raw: unknown): Fault => {
  const printed = Array.isArray(raw) ? raw.join(',') : raw === '*' ? raw : JSON.stringify(raw)
  return fault('validation', `Invalid locale param ${printed} provided. Document locales must be strings.`)
}
