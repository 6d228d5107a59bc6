import type { Holder } from '../../model/model.ts'
import type { DesiredDocument, DesiredValue, LinkTarget, Stored, Values } from '../desired-state.ts'
import type { Assertion, ReturningQuery } from '../sql/print-changes.ts'

/** What the statement of a new document depends on, and what is put into it. */
export interface InsertShape {
  readonly key: string
  /** In one order for all documents of the form. */
  readonly values: readonly Stored[]
}

export interface InsertShapeTerms {
  readonly now: string
  readonly proof: Assertion | undefined
  readonly question: ReturningQuery | undefined
}

/** undefined: more than the values decides on how it is written. */
export function insertShapeOf(
  { type, documentId, versions, at, key }: DesiredDocument,
  { now, proof, question }: InsertShapeTerms,
): InsertShape | undefined {
  const [version, ...others] = versions
  if (!version || others.length > 0 || version.rows || at !== undefined || key !== undefined) return undefined
  if (proof?.form === null) return undefined
  const { locale, statuses, publishing } = version
  const values: Stored[] = [documentId, now]
  if (publishing?.at !== undefined) values.push(publishing.at)
  const form = shapeOfValues(type, version.values, values)
  if (form === undefined) return undefined
  if (proof) values.push(...proof.values)
  if (question) values.push(...question.values)
  const moment = publishing?.at === undefined ? '' : '@'
  return {
    key: `${type.uid} ${locale} ${statuses}${moment}${form} ${proof?.form}\n${question?.text}`,
    values,
  }
}

function shapeOfValues(holder: Holder, of: Values, values: Stored[]): string | undefined {
  let form = ''
  for (const [name, value] of of) {
    const each = shapeOfValue(holder, name, value, values)
    if (each === undefined) return undefined
    form += ` ${name}${each}`
  }
  return form
}

function shapeOfValue(
  holder: Holder,
  name: string,
  value: DesiredValue,
  values: Stored[],
): string | undefined {
  if (value.kind === 'scalar') {
    values.push(value.value)
    return ''
  }
  if (value.kind === 'components') return shapeOfItems(value, values)
  const attribute = holder.attributes.get(name)
  if (attribute?.kind === 'relation' && attribute.side === 'inverse') return undefined
  return shapeOfTargets(value.targets, values)
}

function shapeOfItems(
  { items }: Extract<DesiredValue, { readonly kind: 'components' }>,
  values: Stored[],
): string | undefined {
  let form = '['
  for (const { component, id, values: inner } of items) {
    const each = id === null ? shapeOfValues(component, inner, values) : undefined
    if (each === undefined) return undefined
    form += `${component.uid}${each};`
  }
  return `${form}]`
}

/** One that is named twice counts once: that is seen by its key alone. */
function shapeOfTargets(targets: readonly LinkTarget[], values: Stored[]): string | undefined {
  let form = '('
  const seen = new Set<number>()
  for (const { key, locale, status, inversePlace } of targets) {
    if (key === undefined || inversePlace !== undefined || seen.has(key)) return undefined
    seen.add(key)
    values.push(key)
    form += `${locale ?? ''} ${status ?? ''};`
  }
  return `${form})`
}
