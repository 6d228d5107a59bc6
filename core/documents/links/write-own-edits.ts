import type { OwnEdit } from '../desired-state.ts'
import { tableLinkOf } from '../rows/write-load.ts'
import type { WriteTerms } from '../rows/write-terms.ts'
import { sequencesOf } from '../sql/known-sequences.ts'
import { type OwnList, printOwnEdit } from './own-list-sql.ts'

/** Edits the lists that versions own: statements that are only sent. */
export async function writeOwnEdits(edits: readonly OwnEdit[], terms: WriteTerms): Promise<void> {
  if (edits.length === 0) return
  const sequences = await sequencesOf(terms)
  for (const own of edits) {
    const link = tableLinkOf(own.type, own.attribute.name, terms)
    const { name: table, status, locale } = terms.storage.table(own.type)
    const list: OwnList = { link, owner: { table, status, locale } }
    const sequence = sequences.get(link.table)
    if (sequence === undefined) throw new TypeError(`no sequence of ${link.table}`)
    for (const statement of printOwnEdit(list, own, sequence)) terms.transaction.send(statement)
  }
}
