import type { DatabaseFault } from '../../database/database-fault.ts'
import type { ScalarAttribute } from '../../model/model.ts'
import type { Storage } from '../../model/storage.ts'

/** The attribute whose values an index refused, because they must be unique: the index's first column holds it. */
export function violatedAttribute(fault: DatabaseFault, storage: Storage): ScalarAttribute | undefined {
  if (fault.kind !== 'unique') return undefined
  const table = storage.tables.find(({ name }) => name === fault.table)
  const [first] = table?.indexes.find(({ name }) => name === fault.constraint)?.columns ?? []
  const attribute = table?.columns.find(({ name }) => name === first)?.attribute
  return attribute?.kind === 'scalar' && attribute.unique ? attribute : undefined
}
