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
import type { Parameters } from '../parse-query-string.ts'

const ALL_LOCALES: LocaleChoice = { kind: 'all' }

/** Contract 0: one of the two words exactly; nothing is `published`. */
export function parseStatus(raw: unknown): Result<Status, Fault> {
  if (raw === undefined) return ok('published')
  const status = STATUSES.find(word => word === raw)
  return status ? ok(status) : failed(badWord('status', STATUSES))
}

/** Contract 10. Types without drafts have nothing to be told apart by. */
export function parsePublication(
  type: ContentType,
  { publicationFilter, hasPublishedVersion }: Parameters,
): Result<PublicationFilter | null, Fault> {
  if (!type.draftAndPublish) return ok(null)
  if (publicationFilter !== undefined) {
    const word = PUBLICATION_FILTERS.find(known => known === publicationFilter)
    return word ? ok(word) : failed(badWord('publicationFilter', PUBLICATION_FILTERS))
  }
  if (hasPublishedVersion === undefined) return ok(null)
  if (hasPublishedVersion === 'true') return ok('has-published-version')
  return hasPublishedVersion === 'false'
    ? ok('never-published')
    : failed(badWord('hasPublishedVersion', ['true', 'false']))
}

const badWord = (key: string, expected: readonly string[]): Fault =>
  fault('validation', `Invalid value for ${key}: expected ${expected.join(' or ')}`, { key, expected })

interface LocaleTerms {
  readonly model: Model
  /** A list of documents may be in several locales. */
  readonly many: boolean
}

/** A filter on the locale says which ones: then there is no default one, and `locale` says nothing, as in the reference. */
export function parseLocales(
  type: ContentType,
  { locale, filters }: Parameters,
  terms: LocaleTerms,
): Result<LocaleChoice, Fault> {
  const parsed = parseLocale(type, locale, terms)
  return parsed.ok && isRecord(filters) && Object.hasOwn(filters, 'locale') ? ok(ALL_LOCALES) : parsed
}

/** Contract 11: `*` and lists are for lists of documents; unknown locales find nothing. */
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

/** Contract 11: one locale of the project, by default the default one; null on types without locales. */
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

/** As of a write, but `*` is all of them, which is null. */
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

/** PostgreSQL takes no NUL; no locale has one either way. */
const storable = (code: string): string => code.replaceAll('\0', '?')

const badLocale = (raw: unknown): Fault => {
  const told = Array.isArray(raw) ? raw.join(',') : raw === '*' ? raw : JSON.stringify(raw)
  return fault('validation', `Invalid locale param ${told} provided. Document locales must be strings.`)
}
