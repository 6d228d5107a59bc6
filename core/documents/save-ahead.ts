import type { DesiredDocument } from './desired-state.ts'
import type { Answer } from './documents.ts'
import { heldFiles } from './held-files.ts'
import type { FoundTargets } from './links/link-targets.ts'
import type { OptimisticTargets } from './optimistic-targets.ts'
import { choiceOf, countMatching, visibleBy } from './read/matching.ts'
import { assertUnchanged } from './read/read-answer.ts'
import { visibleLocales } from './read/version-visibility.ts'
import { ignoreUnhandled } from './rows/ignore-unhandled.ts'
import { type Current, loadDocument, NO_CURRENT_ROWS, type Wanted } from './rows/write-load.ts'
import type { WriteTerms } from './rows/write-terms.ts'
import { findSavedTargets } from './state/new-values.ts'
import { changesAllLocales, claimedVersion, type SaveCommand } from './state/version-context.ts'
import { findUniqueConflicts } from './unique/unique-conflicts.ts'
import type { GivenBody } from './values/given-body.ts'

export interface Save {
  readonly command: SaveCommand
  readonly answer: Answer
  readonly body: GivenBody
}

export interface PrefetchTerms extends WriteTerms {
  /** What is asked by it counts as asked when its turn comes (prefetch.ts). */
  readonly ahead: WriteTerms['transaction']
  /** What links name, where it need not be asked. */
  readonly recalled?: OptimisticTargets | undefined
}

/** The answers to all that can be asked before anything is known; each fails in its turn. */
export interface PrefetchedSave {
  /** Locked: what is asked behind it sees what it will be judged with. */
  readonly current: Promise<Current>
  readonly unchanged: Promise<void>
  readonly targets: Promise<FoundTargets>
}

export interface Subject {
  /** The document that is there; null: it is to be made. */
  readonly known: string | null
  /** What it is or will be called. */
  readonly documentId: string
  readonly wanted: Wanted
}

/** Asks in one round trip. */
export function prefetchSave(
  { command, answer, body }: Save,
  { known, documentId, wanted }: Subject,
  { ahead, ...terms }: PrefetchTerms,
): PrefetchedSave {
  const { type, conditions } = command
  const current =
    known === null ? Promise.resolve(NO_CURRENT_ROWS) : loadDocument({ type, documentId: known }, wanted, terms)
  const foreseeing = { ...terms, transaction: ahead }
  prefetchBefore(command, known, foreseeing)
  const unchanged =
    command.kind === 'update'
      ? assertUnchanged(command.precondition, [answer], known, terms)
      : Promise.resolve()
  const targets = terms.recalled
    ? Promise.resolve(terms.recalled.targets)
    : findSavedTargets(command, body, {
        ...terms,
        visible: visibleBy(conditions, terms),
        held: async () => heldFiles({ command, documentId, body, current: await current, terms }),
      })
  prefetchConflicts({ command, body }, documentId, foreseeing)
  return { current: ignoreUnhandled(current), unchanged: ignoreUnhandled(unchanged), targets: ignoreUnhandled(targets) }
}

function prefetchBefore(command: SaveCommand, known: string | null, terms: WriteTerms) {
  const { type, conditions } = command
  if (known === null) return
  ignoreUnhandled(visibleLocales({ ...command, documentId: known }, terms))
  if (!conditions.before) return
  const locale = choiceOf(type, changesAllLocales(command) ? null : command.locale)
  const match = { type, documentIds: [known], locale, filter: conditions.before }
  ignoreUnhandled(countMatching(match, terms))
}

/** Whether others have what the body claims: what it claims in the end is that, as long as the document has not got it. */
function prefetchConflicts({ command, body }: Omit<Save, 'answer'>, documentId: string, terms: WriteTerms) {
  if (body.faults.length > 0) return
  const { type } = command
  const document: DesiredDocument = { type, documentId, versions: [claimedVersion(command, body.values)] }
  ignoreUnhandled(findUniqueConflicts([document], terms))
}
