import { readableAttributes } from '../access/restrict/readable-attributes.ts'
import type { Attribute, Holder } from '../model/model.ts'
import type { Values } from './desired-state.ts'
import type { HeldFiles } from './links/link-targets.ts'
import { isShared } from './rows/write-versions.ts'
import { type ContextInput, type Saving, versionContextOf } from './state/version-context.ts'
import { valuesOf } from './state/version-values.ts'

/**
 * The files that a document holds in attributes which the caller reads. A body may name such a file again in the same
 * attribute although the caller may not find it: the link is not new, and shows nothing that the caller does not see.
 */
export function heldFiles({ body, ...saving }: ContextInput & Pick<Saving, 'body'>): HeldFiles {
  const { command } = saving
  const { type, conditions } = command
  const { row, sibling, place } = versionContextOf(saving)
  const isHeld = (attribute: Attribute) =>
    body.names(attribute) &&
    conditions.shown?.has(attribute) === true &&
    (row !== undefined || isShared(type, attribute))
  const from = row ?? sibling
  const attributes = [...type.attributes.values()].filter(isHeld)
  const held = new Map<string, Set<number>>()
  if (from) collect({ holder: type, values: valuesOf(type, from, attributes, place), path: '' }, held)
  return media => held.get(media) ?? new Set()
}

interface Place {
  readonly holder: Holder
  readonly values: Values
  /** As `refsIn` of link-targets.ts builds it. */
  readonly path: string
}

function collect({ holder, values, path }: Place, held: Map<string, Set<number>>): void {
  for (const [name, value] of values) {
    const here = path + name
    if (value.kind === 'components')
      for (const { component, values: inner } of value.items)
        collect(
          { holder: component, values: readable(component, inner), path: `${here}.${component.uid} ` },
          held,
        )
    if (value.kind !== 'links' || holder.attributes.get(name)?.kind !== 'media') continue
    const keys = held.get(here) ?? new Set()
    for (const { key } of value.targets) if (key !== undefined) keys.add(key)
    held.set(here, keys)
  }
}

function readable(holder: Holder, values: Values): Values {
  const names = new Set([...readableAttributes(holder)].map(({ name }) => name))
  return new Map([...values].filter(([name]) => names.has(name)))
}
