import { didYouMean } from '../base/nearest.ts'
import type { LinkTarget } from '../documents/desired-state.ts'
import { GAP } from '../documents/sql/write-rows.ts'
import { type Body, isBody } from '../documents/values/parse-item.ts'
import type { ValueFault } from '../documents/values/value-fault.ts'
import type { Path } from '../faults/diagnostic.ts'

export interface ParsedLink {
  /** undefined if there are faults. */
  readonly target: LinkTarget | undefined
  readonly faults: readonly ValueFault[]
}

export interface LinkTerms {
  /** The keys that a link of the source may have. */
  readonly keys: readonly string[]
  /** Codes of the project's locales. */
  readonly locales: readonly string[]
}

/** Parses one link: the name of its target, or an object with more keys. */
export function parseLink(given: unknown, path: Path, terms: LinkTerms): ParsedLink {
  const body = isBody(given) ? given : { documentId: given }
  const faults = [...linkFaults(body, path, terms)]
  return { target: faults.length === 0 ? toTarget(body) : undefined, faults }
}

function* linkFaults(body: Body, path: Path, { keys, locales }: LinkTerms): Generator<ValueFault> {
  yield* unknownLinkKeys(body, path, keys)
  const { documentId, locale, status, order } = body
  if (typeof documentId === 'number')
    yield fault(path, `\`${documentId}\` is a number: put a documentId in quotes`)
  else if (typeof documentId !== 'string' || documentId === '')
    yield fault(path, 'expected a documentId, or a mapping with the key `documentId`')
  if (isSet(locale) && !(typeof locale === 'string' && locales.includes(locale)))
    yield fault([...path, 'locale'], unknownLocale(locale, locales))
  if (isSet(status) && status !== 'draft' && status !== 'published')
    yield fault([...path, 'status'], '`status` is `draft` or `published`')
  if (isSet(order) && !(typeof order === 'number' && Math.abs(order) < 1e12))
    yield fault([...path, 'order'], '`order` is a number below 10^12')
}

const isSet = (value: unknown): boolean => value !== undefined && value !== null

const fault = (path: Path, message: string): ValueFault => ({ kind: 'rule', path, message })

function unknownLocale(locale: unknown, locales: readonly string[]): string {
  if (typeof locale !== 'string') return `\`locale\` is one of ${locales.join(', ')}`
  return `unknown locale \`${locale}\`${didYouMean(locale, locales) || `: there are ${locales.join(', ')}`}`
}

/** The keys of a link that are not among these. */
export function* unknownLinkKeys(body: Body, path: Path, keys: readonly string[]): Generator<ValueFault> {
  for (const key of Object.keys(body))
    if (!keys.includes(key))
      yield { kind: 'key', path: [...path, key], message: `unknown key \`${key}\`${didYouMean(key, keys)}` }
}

const toTarget = ({ documentId, locale, status, order }: Body): LinkTarget => ({
  documentId: String(documentId),
  locale: typeof locale === 'string' ? locale : null,
  status: status === 'draft' || status === 'published' ? status : null,
  ...(typeof order === 'number' ? { inversePlace: order * GAP } : {}),
})
