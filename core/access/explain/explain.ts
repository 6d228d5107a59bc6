import type { Path } from '../../faults/diagnostic.ts'
import type { ContentType, Model } from '../../model/model.ts'
import type { Project } from '../../project/project.ts'
import type { PermissionTerms } from '../../project/settings/settings.ts'
import { type Action, actionsOf, BUILT_IN_ACTIONS, subjectOf } from '../actions.ts'
import type { Grants } from '../caller.ts'
import type { Access } from '../compile/compile-access.ts'
import { type Decision, decide } from '../decide.ts'
import { resolveHolders } from '../holders.ts'
import { type Cell, type Cells, cellOf, EVERY } from '../permission-entries.ts'
import { attributesFor } from './explain-attributes.ts'

/** A role or an API token. */
export interface Holder {
  readonly kind: 'role' | 'token'
  readonly key: string
}

/** What permissions are given on: a content-type, or `auth`, which has no documents. */
export interface Subject {
  readonly name: string
  readonly type: ContentType | null
  readonly actions: readonly Action[]
}

export type Why =
  /** So it is written, for this action or, by `"*"`, for each; for this type or for each. */
  | { readonly kind: 'said'; readonly everyAction: boolean; readonly everyType: boolean }
  /** Another action implies it. */
  | { readonly kind: 'implied'; readonly by: string }
  /** Actions of `auth` while `public` does not name it. */
  | { readonly kind: 'open' }
  /** The kind of API token. */
  | { readonly kind: 'token-type' }
  | { readonly kind: 'unsaid' }

/** What one role or token may do to one subject by one action, and by what it says so. */
export interface Explanation {
  readonly holder: Holder
  readonly subject: Subject
  readonly action: Action
  readonly allowed: boolean
  readonly why: Why
  /** Where the permission that decides stands; the holder's own permissions where there is none. */
  readonly path: Path
  /** The permission on `"*"` that counted if the type were not named. */
  readonly beaten: Path | null
  /** From the holder to the role that says it: `['editor', 'authenticated']`. */
  readonly through: readonly string[]
  /** Empty where the permission is whole. */
  readonly terms: PermissionTerms
  /** Names of attributes; null where the action neither answers nor takes any. */
  readonly readable: readonly string[] | null
  readonly writable: readonly string[] | null
}

export interface Explainer {
  /** Roles, then tokens, in the file's order. */
  readonly holders: readonly Holder[]
  /** The project's types in the file's order, then the built-in subjects. */
  readonly subjects: readonly Subject[]
  explain(holder: Holder, subject: Subject, action: Action): Explanation
}

/** Answers from the same cells and decisions as the rules that requests are held to. */
export function openExplainer({ settings }: Project, model: Model, access: Access): Explainer {
  const resolved = resolveHolders(settings)
  const wayOf = (holder: Holder, spot: Spot) =>
    holder.kind === 'role' ? wayTo(holder.key, spot, resolved.roles, settings.roles) : [holder.key]
  return Object.freeze({
    holders: [
      ...Object.keys(settings.roles).map((key): Holder => ({ kind: 'role', key })),
      ...Object.keys(settings.apiTokens).map((key): Holder => ({ kind: 'token', key })),
    ],
    subjects: subjectsIn(model),
    explain(holder: Holder, subject: Subject, action: Action) {
      const cells = (holder.kind === 'role' ? resolved.roles : resolved.tokens).get(holder.key) ?? new Map()
      const decision = decisionOn(cells, subject, action)
      const spot = spotOf(decision, action)
      const through = spot ? wayOf(holder, spot) : [holder.key]
      const terms = typeof decision.said === 'object' ? decision.said : decision.said ? {} : null
      return {
        holder,
        subject,
        action,
        allowed: terms !== null,
        why: whyOf(decision),
        path: spot?.cell.path ?? ownPath(holder),
        beaten: decision.kind === 'said' ? (decision.beaten?.path ?? null) : null,
        through,
        terms: terms ?? {},
        ...attributesFor({ type: subject.type, action, terms }, grantsOf(access, holder)),
      }
    },
  })
}

function subjectsIn(model: Model): readonly Subject[] {
  const types = [...model.contentTypes.values()].map(
    (type): Subject => ({ name: subjectOf(type), type, actions: actionsOf(type) }),
  )
  return [...types, { name: 'auth', type: null, actions: BUILT_IN_ACTIONS.auth }]
}

export function grantsOf({ roles, tokens }: Access, { kind, key }: Holder): Grants {
  const grants = (kind === 'role' ? roles : tokens).get(key)
  if (!grants) throw new TypeError(`no ${kind} ${key}`)
  return grants
}

function decisionOn(cells: Cells, { name, type }: Subject, action: Action): Decision {
  if (type) return decide(cells, type, action)
  const cell = cellOf(cells, name, action)
  return cell
    ? { kind: 'said', said: cell.said, cell, beaten: null }
    : { kind: 'unsaid', said: false, cell: null }
}

/** A cell, and the action that it is found by: not that of the question where another brings it along. */
interface Spot {
  readonly cell: Cell
  readonly action: string
}

function spotOf(decision: Decision, action: string): Spot | null {
  switch (decision.kind) {
    case 'said':
      return { cell: decision.cell, action }
    case 'implied':
      return { cell: decision.cell, action: decision.by }
    case 'unsaid':
      return null
  }
}

function whyOf(decision: Decision): Why {
  switch (decision.kind) {
    case 'said':
      return whySaid(decision.cell)
    case 'implied':
      return { kind: 'implied', by: decision.by }
    case 'unsaid':
      return { kind: 'unsaid' }
  }
}

function whySaid({ path, origin }: Cell): Why {
  if (origin !== 'file') return { kind: origin }
  const [, , , subject, action] = path
  return { kind: 'said', everyAction: action === EVERY, everyType: subject === EVERY }
}

const ownPath = ({ kind, key }: Holder): Path => [kind === 'role' ? 'roles' : 'apiTokens', key, 'permissions']

/** The way over `extends` by which a role came to a cell: along the parents that have the very same one. */
function wayTo(
  key: string,
  { cell, action }: Spot,
  roles: ReadonlyMap<string, Cells>,
  declared: Project['settings']['roles'],
): readonly string[] {
  if (cell.origin !== 'file' || cell.path[1] === key) return [key]
  const parent = declared[key]?.extends.findLast(
    name => cellOf(roles.get(name) ?? new Map(), String(cell.path[3]), action) === cell,
  )
  return parent === undefined ? [key] : [key, ...wayTo(parent, { cell, action }, roles, declared)]
}
