import type { Holder } from './model.ts'
import { toCamelCase, toPascalCase } from './names.ts'
import { type Storage, type Table, writtenColumns } from './storage.ts'

/** The names of a table's columns in code, by column: the attribute's name, otherwise the column in camel case. */
export function rowNames(
  table: Table,
  holder: Holder | null,
  storage: Pick<Storage, 'column'>,
): ReadonlyMap<string, string> {
  const attributes = [...(holder?.attributes.values() ?? [])]
  const taken = new Set(attributes.map(({ name }) => name))
  const columns = new Set(writtenColumns(table.columns).map(({ name }) => name))
  const names = new Map<string, string>()
  for (const attribute of attributes) {
    if (holder === null || attribute.kind !== 'scalar') continue
    const column = storage.column(holder, attribute.name)
    if (columns.has(column)) names.set(column, modelAttribute(attribute.name))
  }
  for (const column of columns) if (!names.has(column)) names.set(column, unusedName(column, taken))
  return names
}

/** The name in code of an attribute or association: a field of Sequelize's instances gets a `_`. */
export const modelAttribute = (name: string): string => (INSTANCE_FIELDS.has(name) ? `${name}_` : name)

const INSTANCE_FIELDS: ReadonlySet<string> = new Set([
  'dataValues',
  'isNewRecord',
  'uniqno',
  '_changed',
  '_options',
  '_previousDataValues',
])

/** `status`, or `versionStatus` if an attribute has that name. */
function unusedName(column: string, taken: Set<string>): string {
  let name = toCamelCase(column)
  if (taken.has(name)) name = `version${toPascalCase(column)}`
  while (taken.has(name)) name += '_'
  taken.add(name)
  return name
}

/** The holders that have rows, by the name of their model: a key, or a uid if the key is ambiguous. */
export function rowModelNames(holders: Iterable<Holder>): ReadonlyMap<Holder, string> {
  const names = new Map<Holder, string>()
  const taken = new Set<string>()
  for (const holder of holders) {
    const short = holder.holder === 'component' ? holder.uid : holder.key
    const name = taken.has(short) ? holder.uid : short
    taken.add(name)
    names.set(holder, name)
  }
  return names
}
