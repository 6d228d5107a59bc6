import type { ScalarAttribute } from '../../../core/model/model.ts'
import type { AttributePair, HolderPair } from '../field-mapping.ts'
import { readComponents } from './read-components.ts'
import { readMediaLinks, readRelations } from './read-links.ts'
import type { Drafts, ReadHolder, ValuesById } from './read-terms.ts'
import { numberAt } from './source.ts'

/** Reads rows of a content-type or component, with links and components, in the format of the stream. */
export async function readValues(
  pair: HolderPair,
  ids: readonly number[],
  holding: ReadHolder,
): Promise<ValuesById> {
  const drafts = new Map(ids.map((id): [number, Record<string, unknown>] => [id, {}]))
  const found = await readScalars(pair, drafts, holding)
  for (const id of ids) if (!found.has(id)) drafts.delete(id)
  await readRelations(pair, drafts, holding)
  await readMediaLinks(pair, drafts, holding)
  await readComponents(pair, drafts, holding, nested => readValues(nested.pair, nested.ids, holding))
  return drafts
}

/** Returns the existing rows. */
async function readScalars(
  pair: HolderPair,
  drafts: Drafts,
  { source, names, lose }: ReadHolder,
): Promise<ReadonlySet<number | null>> {
  const table = names.table(pair.collectionName)
  const there = new Set(source.tables.get(table)?.map(({ name }) => name))
  const scalars = pair.attributes.filter(({ ours }) => ours.kind === 'scalar')
  for (const { name } of scalars.filter(each => each.given.size > 0 && !there.has(names.column(each.name))))
    lose({ of: `${pair.uid} ${name}`, why: `the table ${table} has no such column` })
  const rows = await source.read({
    table,
    columns: ['id', ...new Set(scalars.map(({ name }) => names.column(name)))],
    among: { column: 'id', values: [...drafts.keys()] },
  })
  for (const row of rows) {
    const draft = drafts.get(numberAt(row, 'id') ?? 0)
    for (const each of draft === undefined ? [] : scalars) {
      const value = scalarOf(each, row.get(names.column(each.name)) ?? null)
      if (draft !== undefined && value !== undefined) draft[each.ours.name] = value
      if (value === undefined && row.get(names.column(each.name)))
        lose({ of: `${pair.uid} ${each.name}`, why: 'a password that is no bcrypt hash' })
    }
  }
  return new Set(rows.map(row => numberAt(row, 'id')))
}

const scalarOf = ({ ours }: AttributePair, text: string | null): unknown =>
  ours.kind === 'scalar' && text !== null ? toStreamedScalar(ours, text) : undefined

const BCRYPT = /^\$2[aby]\$\d\d\$.{53}$/

/** Converts PostgreSQL's text of a value to the format of the stream; undefined for an empty value. */
function toStreamedScalar({ type }: ScalarAttribute, text: string): unknown {
  switch (type) {
    case 'password':
      return BCRYPT.test(text) ? { hash: text } : undefined
    case 'json':
    case 'blocks':
    case 'array':
      return JSON.parse(text) ?? undefined
    case 'boolean':
      return text === 'true'
    case 'integer':
    case 'float':
    case 'decimal':
      return Number(text)
    case 'enumeration':
    case 'uid':
    case 'email':
      return text === '' ? undefined : text
    default:
      return text
  }
}
