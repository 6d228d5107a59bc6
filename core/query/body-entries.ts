import { fault, RequestFault } from '../faults/fault.ts'
import type { Attribute, Component, Holder } from '../model/model.ts'
import { isRecord } from './parse-place.ts'

/**
 * Most entries of components and dynamic zones in one body, nested ones included. Each becomes rows: some 30 µs and 5 kB,
 * for three bytes (`{},`) of a body.
 */
const MOST_ENTRIES = 10_000

/** Refuses a body with more entries of components and dynamic zones than one write may have, before any of them is parsed. */
export function refuseTooManyEntries(holder: Holder, body: Readonly<Record<string, unknown>>): void {
  const counted = countEntries(holder, body)
  if (counted <= MOST_ENTRIES) return
  const message = `A body may have at most ${MOST_ENTRIES} entries of components and dynamic zones; this one has ${counted}`
  throw new RequestFault(fault('validation', message))
}

function countEntries(holder: Holder, body: Readonly<Record<string, unknown>>): number {
  let counted = 0
  for (const [key, value] of Object.entries(body)) {
    const attribute = holder.attributes.get(key)
    if (attribute?.kind !== 'component' && attribute?.kind !== 'zone') continue
    for (const entry of Array.isArray(value) ? value : [value]) counted += 1 + countWithin(attribute, entry)
  }
  return counted
}

function countWithin(attribute: Extract<Attribute, { kind: 'component' | 'zone' }>, entry: unknown): number {
  if (!isRecord(entry)) return 0
  const component = componentOf(attribute, entry.__component)
  return component ? countEntries(component, entry) : 0
}

const componentOf = (
  attribute: Extract<Attribute, { kind: 'component' | 'zone' }>,
  name: unknown,
): Component | undefined =>
  attribute.kind === 'component' ? attribute.component : attribute.components.find(({ uid }) => uid === name)
