import type { Transaction } from '../../database/database.ts'
import type { Holder, Model } from '../../model/model.ts'
import type { Storage } from '../../model/storage.ts'
import { quoteIdentifier as name } from '../../sql/identifier.ts'

export interface EmptyTerms {
  readonly transaction: Pick<Transaction, 'run'>
  readonly model: Model
  readonly storage: Storage
}

/** Takes a file out of every place that it is used in: one statement a table that can hold files. */
export async function emptyPlaces(fileId: number, terms: EmptyTerms): Promise<void> {
  for (const [text, values] of statementsFor(fileId, terms))
    await terms.transaction.run({ name: 'empty places of a file', text, values })
}

type Sql = readonly [text: string, values: readonly unknown[]]

function* statementsFor(fileId: number, { model, storage }: EmptyTerms): Generator<Sql> {
  for (const holder of [...model.contentTypes.values(), ...model.components.values()]) {
    const columns: string[] = []
    for (const attribute of linksIn(holder, model)) {
      const link = storage.link(holder, attribute)
      if (link.kind === 'column') columns.push(link.key)
      else yield [`DELETE FROM ${name(link.table)} WHERE ${name(link.targetKey)} = $1`, [fileId]]
    }
    if (columns.length > 0) yield [emptyColumns(tableOf(holder, storage), columns), [fileId]]
  }
}

const linksIn = ({ attributes }: Holder, { builtIn }: Model): readonly string[] =>
  [...attributes.values()]
    .filter(
      each =>
        (each.kind === 'media' || (each.kind === 'relation' && each.side === 'owner')) &&
        each.target === builtIn.file,
    )
    .map(each => each.name)

const tableOf = (holder: Holder, storage: Storage): string =>
  holder.holder === 'component' ? storage.componentTable(holder).name : storage.table(holder).name

/** One UPDATE: a row may hold the file in several columns. */
function emptyColumns(table: string, columns: readonly string[]): string {
  const set = columns.map(each => `${name(each)} = NULLIF(${name(each)}, $1)`)
  const where = columns.map(each => `${name(each)} = $1`)
  return `UPDATE ${name(table)} SET ${set.join(', ')} WHERE ${where.join(' OR ')}`
}
