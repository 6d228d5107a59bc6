import { didYouMean } from '../../../core/base/nearest.ts'
import type { LinkTarget, WrittenValue } from '../../../core/documents/desired-state.ts'
import { GAP } from '../../../core/documents/sql/write-rows.ts'
import { type Body, isBody } from '../../../core/documents/values/parse-item.ts'
import { rule, toFault, type ValueFault } from '../../../core/documents/values/value-fault.ts'
import type { Path } from '../../../core/faults/diagnostic.ts'
import type { MediaAttribute, RelationAttribute } from '../../../core/model/model.ts'

export interface ParsedLinks {
  readonly value?: WrittenValue
  readonly faults: readonly ValueFault[]
}

/** Links as a line tells them: a documentId, an object, or a list of these. */
export function parseLinks(
  attribute: RelationAttribute | MediaAttribute,
  given: unknown,
  path: Path,
  locales: readonly string[],
): ParsedLinks {
  const list = given === null ? [] : Array.isArray(given) ? given : [given]
  const faults: ValueFault[] = []
  const targets: LinkTarget[] = []
  for (const [index, each] of list.entries()) {
    const at = Array.isArray(given) ? [...path, index] : path
    const wrong = [...faultsOf(each, at, locales)]
    faults.push(...wrong)
    if (wrong.length === 0) targets.push(toTarget(isBody(each) ? each : { documentId: each }))
  }
  if (!attribute.many && !isOne(targets))
    faults.push(toFault(rule('leads to one document, not to several'), path, given))
  return faults.length > 0 ? { faults } : { value: { kind: 'links', targets }, faults }
}

/** One a status at most. */
const isOne = (targets: readonly LinkTarget[]): boolean =>
  targets.length < 2 || new Set(targets.map(({ status }) => status)).size === targets.length

const KEYS = ['documentId', 'locale', 'status', 'order']

function* faultsOf(given: unknown, path: Path, locales: readonly string[]): Generator<ValueFault> {
  const body = isBody(given) ? given : { documentId: given }
  for (const key of Object.keys(body))
    if (!KEYS.includes(key)) yield wrong([...path, key], `is no key of a link${didYouMean(key, KEYS)}`)
  const { documentId, locale, status, order } = body
  if (typeof documentId !== 'string' || documentId === '')
    yield wrong(path, 'is a documentId, or `{ "documentId": … }`')
  if (locale !== undefined && !(typeof locale === 'string' && locales.includes(locale)))
    yield wrong([...path, 'locale'], `is one of the project's locales: ${locales.join(', ')}`)
  if (status !== undefined && status !== 'draft' && status !== 'published')
    yield wrong([...path, 'status'], 'is `draft` or `published`')
  if (order !== undefined && !(typeof order === 'number' && Math.abs(order) < 1e12))
    yield wrong([...path, 'order'], 'is a number below 10^12')
}

const wrong = (path: Path, message: string): ValueFault => toFault(rule(message), path, undefined)

function toTarget({ documentId, locale, status, order }: Body): LinkTarget {
  return {
    documentId: String(documentId),
    locale: typeof locale === 'string' ? locale : null,
    status: status === 'draft' || status === 'published' ? status : null,
    ...(typeof order === 'number' ? { inversePlace: order * GAP } : {}),
  }
}
