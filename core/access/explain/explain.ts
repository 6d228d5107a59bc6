import type { Path } from '../../faults/diagnostic.ts'
import type { ContentType, Model } from '../../model/model.ts'
import type { Project } from '../../project/project.ts'
import type { PermissionOptions } from '../../project/settings/settings.ts'
import {
  type Action,
  actionsOf,
  BUILT_IN_ACTIONS,
  isReadAction,
  permissionPartsOf,
  subjectOf,
} from '../actions.ts'
import type { Grants } from '../caller.ts'
import type { Access } from '../compile/compile-access.ts'
import { coveredNames } from '../compile/to-rules.ts'
import { type Decision, decide } from '../decide.ts'
import { isOnlyForUsers } from '../denial.ts'
import { resolveHolders } from '../holders.ts'
import { entryOf, type PermissionEntry, type PermissionTable, WILDCARD } from '../permission-entries.ts'

/** A role or an API token. */
export interface PermissionHolder {
  readonly kind: 'role' | 'token'
  readonly key: string
}

/** The subject of a permission: a content-type, or `auth`, which has no documents. */
export interface PermissionSubject {
  readonly name: string
  readonly type: ContentType | null
  readonly actions: readonly Action[]
}

export type DecisionReason =
  /** The file grants or denies it, for this action or for `"*"`, on this type or on `"*"`. */
  | { readonly kind: 'declared'; readonly everyAction: boolean; readonly everyType: boolean }
  /** Another action implies it. */
  | { readonly kind: 'implied'; readonly by: string }
  /** Actions of `auth` while `public` does not name it. */
  | { readonly kind: 'open' }
  /** The kind of API token. */
  | { readonly kind: 'token-type' }
  /** Granted to a token or to the public, who have no user, and the action concerns the caller's own user. */
  | { readonly kind: 'userless' }
  | { readonly kind: 'undeclared' }

/** The decision on one action of a role or token on one subject, and the entry that decides. */
export interface Explanation {
  readonly holder: PermissionHolder
  readonly subject: PermissionSubject
  readonly action: Action
  readonly allowed: boolean
  readonly why: DecisionReason
  /** The path of the entry that decides; of the holder's permissions if there is none. */
  readonly path: Path
  /** The entry for `"*"` that the entry for the type overrides. */
  readonly overridden: Path | null
  /** The inheritance chain from the holder to the role that declares the entry: `['editor', 'authenticated']`. */
  readonly through: readonly string[]
  /** Empty if the permission has no restrictions. */
  readonly options: PermissionOptions
  /** Names of attributes; null if the action neither returns nor accepts any. */
  readonly readable: readonly string[] | null
  readonly writable: readonly string[] | null
}

export interface Explainer {
  /** Roles, then tokens, in the file's order. */
  readonly holders: readonly PermissionHolder[]
  /** The project's types in the file's order, then the built-in subjects. */
  readonly subjects: readonly PermissionSubject[]
  explain(holder: PermissionHolder, subject: PermissionSubject, action: Action): Explanation
}

/** Uses the same entries and decisions as the rules that requests are checked against. */
export function openExplainer({ settings }: Project, model: Model, access: Access): Explainer {
  const resolved = resolveHolders(settings)
  const chainTo = (holder: PermissionHolder, deciding: DecidingEntry) =>
    holder.kind === 'role'
      ? inheritanceChain(holder.key, deciding, resolved.roles, settings.roles)
      : [holder.key]
  return Object.freeze({
    holders: [
      ...Object.keys(settings.roles).map((key): PermissionHolder => ({ kind: 'role', key })),
      ...Object.keys(settings.apiTokens).map((key): PermissionHolder => ({ kind: 'token', key })),
    ],
    subjects: subjectsIn(model),
    explain(holder: PermissionHolder, subject: PermissionSubject, action: Action) {
      const entries = (holder.kind === 'role' ? resolved.roles : resolved.tokens).get(holder.key) ?? new Map()
      const decision = decisionOn(entries, subject, action)
      const deciding = decidingEntry(decision, action)
      const through = deciding ? chainTo(holder, deciding) : [holder.key]
      const options = typeof decision.value === 'object' ? decision.value : decision.value ? {} : null
      const explanation: Explanation = {
        holder,
        subject,
        action,
        allowed: options !== null,
        why: reasonOf(decision),
        path: deciding?.entry.path ?? ownPath(holder),
        overridden: decision.kind === 'declared' ? (decision.overridden?.path ?? null) : null,
        through,
        options: options ?? {},
        ...attributesFor({ type: subject.type, action, options }, grantsOf(access, holder)),
      }
      return holder.kind === 'token' ? withoutUser(explanation) : explanation
    },
  })
}

function subjectsIn(model: Model): readonly PermissionSubject[] {
  const types = [...model.contentTypes.values()].map(
    (type): PermissionSubject => ({ name: subjectOf(type), type, actions: actionsOf(type) }),
  )
  return [...types, { name: 'auth', type: null, actions: BUILT_IN_ACTIONS.auth }]
}

export function grantsOf({ roles, tokens }: Access, { kind, key }: PermissionHolder): Grants {
  const grants = (kind === 'role' ? roles : tokens).get(key)
  if (!grants) throw new TypeError(`no ${kind} ${key}`)
  return grants
}

/**
 * For an asker who has no user: an action that concerns the caller's own user is refused. Access grants it, as only the endpoint
 * asks for the user.
 */
export const withoutUser = (explanation: Explanation): Explanation =>
  explanation.allowed && isOnlyForUsers(explanation.subject.name, explanation.action)
    ? {
        ...explanation,
        allowed: false,
        why: { kind: 'userless' },
        options: {},
        readable: explanation.readable && [],
      }
    : explanation

function decisionOn(entries: PermissionTable, { name, type }: PermissionSubject, action: Action): Decision {
  if (type) return decide(entries, type, action)
  const entry = entryOf(entries, name, action)
  return entry
    ? { kind: 'declared', value: entry.value, entry, overridden: null }
    : { kind: 'undeclared', value: false, entry: null }
}

/** An entry and the action that it declares, which differs from the explained action if it only implies it. */
interface DecidingEntry {
  readonly entry: PermissionEntry
  readonly action: string
}

function decidingEntry(decision: Decision, action: string): DecidingEntry | null {
  switch (decision.kind) {
    case 'declared':
      return { entry: decision.entry, action }
    case 'implied':
      return { entry: decision.entry, action: decision.by }
    case 'undeclared':
      return null
  }
}

function reasonOf(decision: Decision): DecisionReason {
  switch (decision.kind) {
    case 'declared':
      return reasonOfEntry(decision.entry)
    case 'implied':
      return { kind: 'implied', by: decision.by }
    case 'undeclared':
      return { kind: 'undeclared' }
  }
}

function reasonOfEntry({ path, origin }: PermissionEntry): DecisionReason {
  if (origin !== 'file') return { kind: origin }
  const [, , , subject, action] = path
  return { kind: 'declared', everyAction: action === WILDCARD, everyType: subject === WILDCARD }
}

const ownPath = ({ kind, key }: PermissionHolder): Path => [
  kind === 'role' ? 'roles' : 'apiTokens',
  key,
  'permissions',
]

/** The chain of `extends` through which a role inherits an entry: it follows the parents that have the same entry object. */
function inheritanceChain(
  key: string,
  { entry, action }: DecidingEntry,
  roles: ReadonlyMap<string, PermissionTable>,
  declared: Project['settings']['roles'],
): readonly string[] {
  if (entry.origin !== 'file' || entry.path[1] === key) return [key]
  const parent = declared[key]?.extends.findLast(
    name => entryOf(roles.get(name) ?? new Map(), String(entry.path[3]), action) === entry,
  )
  return parent === undefined ? [key] : [key, ...inheritanceChain(parent, { entry, action }, roles, declared)]
}

/** Names of attributes in the model's order. null: the action has no such attributes; empty: it is not granted. */
interface Attributes {
  /** Attributes that the action returns. */
  readonly readable: readonly string[] | null
  /** Attributes that the action accepts. */
  readonly writable: readonly string[] | null
}

/** A permission after the decision. `options` null: not granted. */
interface Granted {
  readonly type: ContentType | null
  readonly action: Action
  readonly options: PermissionOptions | null
}

function attributesFor({ type, action, options }: Granted, grants: Grants): Attributes {
  if (!type || !permissionPartsOf(action).fields) return { readable: null, writable: null }
  const readable = grants.readAccess(type, action)?.readable
  const attributes = [...type.attributes.values()].filter(attribute => readable?.has(attribute))
  return {
    readable: attributes.map(({ name }) => name),
    writable: isReadAction(action) ? null : options ? writableNames(type, options) : [],
  }
}

function writableNames(type: ContentType, { fields, set = {} }: PermissionOptions): readonly string[] {
  const covered = fields ? coveredNames(fields, type) : [...type.attributes.keys()]
  return covered.filter(name => {
    const attribute = type.attributes.get(name)
    return attribute?.writable && !attribute.system && !Object.hasOwn(set, name)
  })
}
