import { createHash } from 'node:crypto'
import type { Values } from '../documents/desired-state.ts'
import type { Holder } from '../model/model.ts'
import type { ContentDocument } from './content.ts'

/** A digest of all that would be written of a document, in an order that does not depend on the file's. */
export function digestOf({ type, versions }: Omit<ContentDocument, 'digest'>): string {
  const whole = versions.map(({ locale, statuses, values, given }) => [
    locale,
    statuses,
    valuesOf(type, new Map([...values].filter(([name]) => given.has(name)))),
  ])
  return createHash('sha256').update(JSON.stringify(whole)).digest('hex')
}

/** Passwords are set once, and a digest of one would let it be guessed. */
const valuesOf = (holder: Holder, values: Values): readonly unknown[] =>
  [...values]
    .filter(([name]) => !isPassword(holder, name))
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => [
      name,
      value.kind === 'components'
        ? value.items.map(({ component, values: nested }) => [component.uid, valuesOf(component, nested)])
        : value,
    ])

export function isPassword(holder: Holder, name: string): boolean {
  const attribute = holder.attributes.get(name)
  return attribute?.kind === 'scalar' && attribute.type === 'password'
}
