import { RequestFault } from '../faults/fault.ts'
import type { Model } from '../model/model.ts'
import { deleteDocument } from './delete-document.ts'
import type { Answer, Documents } from './documents.ts'
import { type SaveTerms, saveDocument } from './save-document.ts'
import { describeWrite, type Writer } from './transact.ts'
import { readBody } from './values/given-body.ts'

/** Updates or deletes documents of one type in one transaction. */
export const openChangeMany =
  ({ write }: Pick<Writer, 'write'>, model: Model): Documents['changeMany'] =>
  async (commands, query) => {
    const [first] = commands
    if (!first) return 0
    const asked = { ...query, filter: null, search: null, sort: [] }
    const answer: Answer = { query: { ...asked, take: { kind: 'one', documentId: null } }, shape: 'flat' }
    const changes = await Promise.all(commands.map(each => prepareChange(each, answer, model)))
    const work = async (writing: SaveTerms) => {
      let count = 0
      for (const change of changes) if (await change(writing)) count++
      return count
    }
    return write(first.type, work, describeWrite(first, answer))
  }

type Change = (writing: SaveTerms) => Promise<boolean>

/** The change answers whether the document was there. */
async function prepareChange(
  command: Parameters<Documents['changeMany']>[0][number],
  answer: Answer,
  model: Model,
): Promise<Change> {
  if (command.kind === 'delete')
    return async writing =>
      (await deleteDocument(command, { seen: [], answer }, { ...writing, model })) !== null
  const body = await readBody(command)
  return async writing => {
    try {
      const { text } = await saveDocument({ command, answer, body }, writing)
      await text
      return true
    } catch (error) {
      // A document that was deleted after the list was read.
      if (error instanceof RequestFault && error.fault.code === 'notFound') return false
      throw error
    }
  }
}
