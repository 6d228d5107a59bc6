import type { WrittenDocument } from './desired-state.ts'
import type { Answer } from './documents.ts'
import { heldFiles } from './held-files.ts'
import type { FoundTargets } from './links/link-targets.ts'
import type { Recalled } from './optimistic-targets.ts'
import { choiceOf, meeting, visibleBy } from './read/matching.ts'
import { assertUnchanged } from './read/read-answer.ts'
import { seenLocales } from './read/version-visibility.ts'
import { early } from './rows/ignore-unhandled.ts'
import { type Current, loadDocument, NOTHING_THERE, type Wanted } from './rows/write-load.ts'
import type { WriteTerms } from './rows/write-terms.ts'
import { targetsOf } from './state/new-values.ts'
import { changesAllLocales, claimedBy, type SaveCommand } from './state/version-context.ts'
import { findTaken } from './unique/unique-conflicts.ts'
import type { GivenBody } from './values/given-body.ts'

export interface Save {
  readonly command: SaveCommand
  readonly answer: Answer
  readonly body: GivenBody
}

export interface AheadTerms extends WriteTerms {
  /** What is asked by it counts as asked when its turn comes (prefetch.ts). */
  readonly ahead: WriteTerms['transaction']
  /** What links name, where it need not be asked. */
  readonly recalled?: Recalled | undefined
}

/** The answers to all that can be asked before anything is known; each fails in its turn. */
export interface Asked {
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
export function askAhead(
  { command, answer, body }: Save,
  { known, documentId, wanted }: Subject,
  { ahead, ...terms }: AheadTerms,
): Asked {
  const { type, conditions } = command
  const current =
    known === null ? Promise.resolve(NOTHING_THERE) : loadDocument({ type, documentId: known }, wanted, terms)
  const foreseeing = { ...terms, transaction: ahead }
  foreseeBefore(command, known, foreseeing)
  const unchanged =
    command.kind === 'update'
      ? assertUnchanged(command.precondition, [answer], known, terms)
      : Promise.resolve()
  const targets = terms.recalled
    ? Promise.resolve(terms.recalled.targets)
    : targetsOf(command, body, {
        ...terms,
        visible: visibleBy(conditions, terms),
        held: async () => heldFiles({ command, documentId, body, current: await current, terms }),
      })
  foreseeTaken({ command, body }, documentId, foreseeing)
  return { current: early(current), unchanged: early(unchanged), targets: early(targets) }
}

function foreseeBefore(command: SaveCommand, known: string | null, terms: WriteTerms) {
  const { type, conditions } = command
  if (known === null) return
  early(seenLocales({ ...command, documentId: known }, terms))
  if (!conditions.before) return
  const locale = choiceOf(type, changesAllLocales(command) ? null : command.locale)
  const match = { type, documentIds: [known], locale, filter: conditions.before }
  early(meeting(match, terms))
}

/** Whether others have what the body claims: what it claims in the end is that, as long as the document has not got it. */
function foreseeTaken({ command, body }: Omit<Save, 'answer'>, documentId: string, terms: WriteTerms) {
  if (body.faults.length > 0) return
  const { type } = command
  const document: WrittenDocument = { type, documentId, versions: [claimedBy(command, body.values)] }
  early(findTaken([document], terms))
}
