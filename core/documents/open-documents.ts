import { ok, type Result } from '../base/result.ts'
import type { AnswerCache } from '../cache/open-cache.ts'
import type { Database, StatementContext, Transaction } from '../database/database.ts'
import type { Fault } from '../faults/fault.ts'
import type { ContentType, Model } from '../model/model.ts'
import type { Storage } from '../model/storage.ts'
import type { Command, PermittedCommand, StatusCommand } from '../query/command.ts'
import { describeQuery } from '../query/print-query.ts'
import { changeStatus } from './change-status.ts'
import { canCreateInOneStatement, createInOneStatement } from './create-in-one-statement.ts'
import { deleteDocument } from './delete-document.ts'
import type { Alongside, Answer, Documents } from './documents.ts'
import { optimisticTargetsFor } from './optimistic-targets.ts'
import { NO_OUTBOX, type Outbox, openChangeRecorder } from './outbox.ts'
import type { Save } from './prefetch-save.ts'
import { openReads } from './read/read.ts'
import type { WriteTerms } from './rows/write-terms.ts'
import { type Saved, type SaveTerms, saveDocument } from './save-document.ts'
import { type AskedSave, expectedCommand } from './state/version-context.ts'
import { attemptOnce, transact } from './transact.ts'
import { readBody } from './values/given-body.ts'

export interface DocumentTerms {
  readonly database: Database
  readonly storage: Storage
  readonly model: Model
  /** Receives change events; absent: events are not recorded. */
  readonly outbox?: Outbox
  /** The response cache; absent or null: no caching. */
  readonly cache?: AnswerCache | null
  /** Maximum bytes of documents in the answer to one request; absent or 0: unlimited. */
  readonly maxBytes?: number
}

/** The document service: reads of one statement, writes of one transaction each. */
export function openDocuments(terms: DocumentTerms): Documents {
  const { write, writeOnce } = openWriter(terms)
  const save = async (command: AskedSave, answer: Answer, alongside?: Alongside) => {
    const foreseen = expectedCommand(command)
    const body = await readBody(foreseen)
    const asked = { command: foreseen, answer, body }
    const purpose = purposeOf(foreseen, answer)
    const work = async (writing: SaveTerms) => {
      const done = await saveDocument({ ...asked, command }, writing)
      await alongside?.(writing.transaction, done.documentId)
      return done
    }
    const saved =
      (await saveOptimistically(asked, work, purpose)) ?? (await write(foreseen.type, work, purpose))
    return saved.ok ? ok({ documentId: saved.value.documentId, text: await saved.value.text }) : saved
  }
  /** Optimistic path with cached link targets. undefined: fall back to the full path, which also finds the fault. */
  const saveOptimistically = async (asked: Save, work: Work<Saved>, purpose: StatementContext) => {
    const recalled = optimisticTargetsFor(asked, { ...terms, defaultLocale: terms.model.defaultLocale })
    if (!recalled) return undefined
    if (!canCreateInOneStatement(asked))
      return recalled.proof ? writeOnce(writing => work({ ...writing, recalled }), purpose) : undefined
    const made = await writeOnce(writing => createInOneStatement(asked, recalled, writing), purpose)
    return made?.ok ? made : undefined
  }
  const change = async (command: PermittedCommand<StatusCommand>, answer: Answer) => {
    const work = (writing: SaveTerms) => changeStatus(command, answer, writing)
    const changed = await write(command.type, work, purposeOf(command, answer))
    return changed.ok ? ok({ ...changed.value, texts: await changed.value.texts }) : changed
  }
  const reads = openReads({ ...terms, defaultLocale: terms.model.defaultLocale })
  return {
    ...reads,
    create: (command, answer) => save(command, answer),
    update: save,
    amend: (command, answer) => save(command, answer),
    delete: (command, seen = [], answer = null) =>
      write(
        command.type,
        writing => deleteDocument(command, { seen, answer }, { ...writing, model: terms.model }),
        purposeOf(command, answer ?? seen[0]),
      ),
    publish: change,
    unpublish: change,
    discardDraft: change,
  }
}

/** Describes the write for observers. It names the attributes and never contains values. */
const purposeOf = (command: Command, answer: Answer | undefined): StatementContext => ({
  trail: answer?.trail,
  describe: () => ({
    action: command.kind,
    contentType: command.type.key,
    ...('values' in command && { values: Object.keys(command.values) }),
    ...(answer && { answer: describeQuery(answer.query) }),
  }),
})

type Work<Value> = (terms: SaveTerms) => Promise<Value>

/** Runs each write in one transaction, and wakes the listeners after its commit. */
function openWriter(terms: DocumentTerms) {
  const attempt = async <Value, Done extends Result<Value, Fault> | undefined>(
    work: Work<Value>,
    run: (work: (transaction: Transaction) => Promise<Value>) => Promise<Done>,
  ): Promise<Done> => {
    const recorder = openChangeRecorder(terms.outbox ?? NO_OUTBOX)
    const result = await run(transaction => {
      const writing = writeTerms(terms)
      return work({ ...writing, transaction, tell: recorder.within(transaction, writing.now) })
    })
    if (result?.ok) recorder.done()
    return result
  }
  return {
    /** Retries after a race condition. */
    write: <Value>(type: ContentType, work: Work<Value>, purpose: StatementContext) =>
      attempt(work, (each): Promise<Result<Value, Fault>> => transact(type, each, { ...terms, purpose })),
    /** undefined: the caller has to fall back to `write`. */
    writeOnce: <Value>(work: Work<Value>, purpose: StatementContext) =>
      attempt(
        work,
        (each): Promise<Result<Value, Fault> | undefined> => attemptOnce(each, { ...terms, purpose }),
      ),
  }
}

const writeTerms = ({
  database,
  storage,
  model: { defaultLocale },
}: DocumentTerms): Omit<WriteTerms, 'transaction'> => ({
  storage,
  schema: database.schema,
  defaultLocale,
  now: new Date().toISOString(),
  componentMatch: 'by-id',
  touch: true,
})
