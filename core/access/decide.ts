import type { ContentType } from '../model/model.ts'
import { subjectOf } from './actions.ts'
import { type Cell, type Cells, cellOf, EVERY } from './cells.ts'

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
  /** Another action brings it along. */
  | { readonly kind: 'implied'; readonly said: Cell['said']; readonly cell: Cell; readonly by: string }
  /** Another action would bring it along, did the role not name publish or readDrafts itself. */
  | {
      readonly kind: 'withheld'
      readonly said: false
      readonly cell: Cell
      readonly by: string
      readonly named: string
    }
  | { readonly kind: 'unsaid'; readonly said: false; readonly cell: null }

/** The actions that drafts add, which others bring along (project-file, "Permissions"). */
const DRAFT_ACTIONS = ['publish', 'readDrafts'] as const

const BRINGING: ReadonlyMap<string, readonly string[]> = new Map([
  ['publish', ['update', 'create']],
  ['readDrafts', ['find', 'findOne']],
])

const UNSAID: Decision = Object.freeze({ kind: 'unsaid', said: false, cell: null })

export function decide(cells: Cells, type: ContentType, action: string): Decision {
  const own = namedOrEvery(cells, type, action)
  if (own) return { kind: 'said', said: own.said, cell: own, beaten: beatenBy(own, cells, type, action) }
  return type.draftAndPublish ? decideImplied(cells, type, action) : UNSAID
}

function decideImplied(cells: Cells, type: ContentType, action: string): Decision {
  for (const by of BRINGING.get(action) ?? []) {
    const cell = namedOrEvery(cells, type, by)
    if (!cell?.said) continue
    const named = DRAFT_ACTIONS.find(name => namedOrEvery(cells, type, name))
    const other = named && namedOrEvery(cells, type, named)
    if (named && other) return { kind: 'withheld', said: false, cell: other, by, named }
    return { kind: 'implied', said: action === 'publish' ? publishing(cell.said) : true, cell, by }
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

/** Whoever may change only some documents may publish only those. */
const publishing = (said: Cell['said']): Cell['said'] =>
  typeof said === 'object' && said.where ? { where: said.where } : Boolean(said)
