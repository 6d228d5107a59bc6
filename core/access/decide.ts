import type { ContentType } from '../model/model.ts'
import { subjectOf } from './actions.ts'
import { type Cell, type Cells, cellOf, EVERY } from './permission-entries.ts'

/**
 * What a role says of one action on one content-type, and why. `said` is what it comes to, `cell` the permission
 * that decides.
 */
export type Decision =
  /** In so many words, for the type or for all of them. */
  | {
      readonly kind: 'said'
      readonly said: Cell['said']
      readonly cell: Cell
      /** What the role says of every type, where naming this one beats it. */
      readonly beaten: Cell | null
    }
  /** Another action implies it. */
  | { readonly kind: 'implied'; readonly said: Cell['said']; readonly cell: Cell; readonly by: string }
  | { readonly kind: 'unsaid'; readonly said: false; readonly cell: null }

/**
 * The actions that imply one that the role does not name (contract/rest.md 0). Reading implies nothing: drafts are
 * visible only to a role that changes documents or names `readDrafts`.
 */
const IMPLIED_BY: ReadonlyMap<string, readonly string[]> = new Map([
  ['publish', ['update', 'create']],
  ['readDrafts', ['update']],
])

const UNSAID: Decision = Object.freeze({ kind: 'unsaid', said: false, cell: null })

export function decide(cells: Cells, type: ContentType, action: string): Decision {
  const own = namedOrEvery(cells, type, action)
  if (own) return { kind: 'said', said: own.said, cell: own, beaten: beatenBy(own, cells, type, action) }
  return type.draftAndPublish ? decideImplied(cells, type, action) : UNSAID
}

function decideImplied(cells: Cells, type: ContentType, action: string): Decision {
  for (const by of IMPLIED_BY.get(action) ?? []) {
    const cell = namedOrEvery(cells, type, by)
    if (cell?.said) return { kind: 'implied', said: rowsOf(cell.said), cell, by }
  }
  return UNSAID
}

const namedOrEvery = (cells: Cells, type: ContentType, action: string): Cell | undefined =>
  cellOf(cells, subjectOf(type), action) ?? everyType(cells, type, action)

/** `"*"` stands for the project's own types. */
const everyType = (cells: Cells, type: ContentType, action: string): Cell | undefined =>
  type.builtIn ? undefined : cellOf(cells, EVERY, action)

function beatenBy(own: Cell, cells: Cells, type: ContentType, action: string): Cell | null {
  const every = everyType(cells, type, action)
  return every && every !== own ? every : null
}

/** An implied action applies to the same documents as the action that implies it. */
const rowsOf = (said: Cell['said']): Cell['said'] =>
  typeof said === 'object' && said.where ? { where: said.where } : Boolean(said)
