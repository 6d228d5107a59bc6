import { hashPassword } from '../../base/passwords.ts'
import type { Holder } from '../../model/model.ts'
import type { DesiredDocument, DesiredValue, Values } from '../desired-state.ts'

/** How many passwords there are to hash. */
export const countPasswords = (holder: Holder, values: Values): number =>
  [...values].reduce((count, [name, value]) => {
    if (value.kind === 'components')
      return value.items.reduce((sum, item) => sum + countPasswords(item.component, item.values), count)
    return value.kind === 'scalar' && isPassword(holder, name) ? count + 1 : count
  }, 0)

const isPassword = (holder: Holder, name: string): boolean => {
  const attribute = holder.attributes.get(name)
  return attribute?.kind === 'scalar' && attribute.type === 'password'
}

/** The documents with their passwords as bcrypt hashes. Some 50 ms of work each, so before a transaction begins. */
export async function hashPasswords(
  documents: readonly DesiredDocument[],
): Promise<readonly DesiredDocument[]> {
  const hashed: DesiredDocument[] = []
  for (const document of documents) {
    const versions = []
    for (const version of document.versions)
      versions.push({ ...version, values: await hashValues(document.type, version.values) })
    hashed.push({ ...document, versions })
  }
  return hashed
}

async function hashValues(holder: Holder, values: Values): Promise<Values> {
  const hashed = new Map<string, DesiredValue>()
  for (const [name, value] of values) hashed.set(name, await hashValue(holder, name, value))
  return hashed
}

async function hashValue(holder: Holder, name: string, value: DesiredValue): Promise<DesiredValue> {
  if (value.kind === 'scalar' && isPassword(holder, name))
    return typeof value.value === 'string'
      ? { kind: 'scalar', value: await hashPassword(value.value) }
      : value
  if (value.kind !== 'components') return value
  const items = []
  for (const item of value.items)
    items.push({ ...item, values: await hashValues(item.component, item.values) })
  return { kind: 'components', items }
}
