import type { Transaction } from '../../database/database.ts'
import type { Holder, Model } from '../../model/model.ts'
import type { Storage } from '../../model/storage.ts'
import { quoteIdentifier as name } from '../../sql/identifier.ts'

export interface ClearReferencesTerms {
  readonly transaction: Pick<Transaction, 'run'>
  readonly model: Model
  readonly storage: Storage
}

/** Removes all references to a file: one statement per table that can hold files. */
export async function clearFileReferences(fileId: number, terms: ClearReferencesTerms): Promise<void> {
  for (const [text, values] of clearStatements(fileId, terms))
    await terms.transaction.run({ name: 'empty places of a file', text, values })
}

type Sql = readonly [text: string, values: readonly unknown[]]

function* clearStatements(fileId: number, { model, storage }: ClearReferencesTerms): Generator<Sql> {
  for (const holder of [...model.contentTypes.values(), ...model.components.values()]) {
    const columns: string[] = []
    for (const attribute of fileAttributes(holder, model)) {
      const link = storage.link(holder, attribute)
      if (link.kind === 'column') columns.push(link.key)
      else yield [`DELETE FROM ${name(link.table)} WHERE ${name(link.targetKey)} = $1`, [fileId]]
    }
    if (columns.length > 0) yield [clearColumns(holderTable(holder, storage), columns), [fileId]]
  }
}

const fileAttributes = ({ attributes }: Holder, { builtIn }: Model): readonly string[] =>
  [...attributes.values()]
    .filter(
      each =>
        (each.kind === 'media' || (each.kind === 'relation' && each.side === 'owner')) &&
        each.target === builtIn.file,
    )
    .map(each => each.name)

const holderTable = (holder: Holder, storage: Storage): string =>
  holder.holder === 'component' ? storage.componentTable(holder).name : storage.table(holder).name

/** One UPDATE per table: a row may refer to the file in several columns. */
function clearColumns(table: string, columns: readonly string[]): string {
  const set = columns.map(each => `${name(each)} = NULLIF(${name(each)}, $1)`)
  const where = columns.map(each => `${name(each)} = $1`)
  return `UPDATE ${name(table)} SET ${set.join(', ')} WHERE ${where.join(' OR ')}`
}
