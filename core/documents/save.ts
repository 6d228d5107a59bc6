import type { StatementContext } from '../database/database.ts'
import { RequestFault } from '../faults/fault.ts'
import { canCreateInOneStatement, createInOneStatement } from './create-in-one-statement.ts'
import type { Alongside, Answer, SavedDocument } from './documents.ts'
import { type OptimisticTerms, optimisticTargetsFor } from './optimistic-targets.ts'
import type { Save } from './prefetch-save.ts'
import { type Saved, type SaveTerms, saveDocument } from './save-document.ts'
import { type AskedSave, expectedCommand } from './state/version-context.ts'
import { describeWrite, type Work, type Writer } from './transact.ts'
import { readBody } from './values/given-body.ts'

/** Create, update and amend: parses the body, then saves on the optimistic path, or else on the full path. */
export const openSave =
  (writer: Writer, terms: OptimisticTerms) =>
  async (command: AskedSave, answer: Answer, alongside?: Alongside): Promise<SavedDocument> => {
    const expected = expectedCommand(command)
    const body = await readBody(expected)
    const save = { command: expected, answer, body }
    const context = describeWrite(expected, answer)
    const work = async (writing: SaveTerms) => {
      const done = await saveDocument({ ...save, command }, writing)
      await alongside?.(writing.transaction, done.documentId)
      return done
    }
    const { documentId, text } =
      (await saveOptimistically({ save, work, context }, writer, terms)) ??
      (await writer.write(expected.type, work, context))
    return { documentId, text: await text }
  }

interface Attempt {
  readonly save: Save
  /** The full path. */
  readonly work: Work<Saved>
  readonly context: StatementContext
}

/** Saves with cached link targets. undefined: fall back to the full path, which also finds the fault. */
async function saveOptimistically(
  { save, work, context }: Attempt,
  writer: Writer,
  terms: OptimisticTerms,
): Promise<Saved | undefined> {
  const recalled = optimisticTargetsFor(save, terms)
  if (!recalled) return undefined
  if (!canCreateInOneStatement(save))
    return recalled.proof && writer.writeOnce(writing => work({ ...writing, recalled }), context)
  try {
    return await writer.writeOnce(writing => createInOneStatement(save, recalled, writing), context)
  } catch (error) {
    // One statement cannot collect all faults of the values.
    if (error instanceof RequestFault) return undefined
    throw error
  }
}
