import { memoize } from '../../base/memo.ts'
import { isRecord } from '../../base/plain-data.ts'
import { forbidden, invalidBodyKey, RequestFault } from '../../faults/fault.ts'
import type { Attribute, Component, ContentType } from '../../model/model.ts'
import type {
  Command,
  GivenValues,
  PermittedCommand,
  VisibleDrafts,
  VisibleVersion,
  WriteConditions,
} from '../../query/command.ts'
import { type Filter, STATUSES, type Status } from '../../query/query.ts'
import { ALL_DRAFTS, brandCommand, UNCONDITIONAL } from '../brand.ts'
import {
  actorOf,
  type Caller,
  type Grants,
  mayContain,
  type ReadAccess,
  type WriteAccess,
  type WriteAction,
} from '../caller.ts'
import { conjunction, filterFor } from '../compile/condition.ts'
import { deniedType } from '../denial.ts'
import { bindUser } from '../user-path.ts'
import { rowCondition } from './read-scope.ts'

/**
 * The only gate between a request and a write. Adds the values that the server sets and the conditions that the rows
 * must meet. Refuses (403) actions that are not granted, including publishing, and (400) attributes that the caller
 * may not write and relations to types that the caller may not `find` (reference/rest.md#9-relations-in-bodies).
 */
export function permit<Kind extends Command>(command: Kind, caller: Caller): PermittedCommand<Kind> {
  const { type } = command
  const writing = caller.grants.writeAccess(type, actionOf(command))
  const publishing = publishes(command) ? caller.grants.writeAccess(type, 'publish') : UNRESTRICTED
  const sharing = changesOtherLocales(command) ? caller.grants.writeAccess(type, 'update') : UNRESTRICTED
  if (!writing || (writing.onlyNew && command.kind !== 'create'))
    throw deniedType(caller, type, actionOf(command))
  if (!publishing) throw deniedType(caller, type, 'publish')
  if (!sharing) throw deniedType(caller, type, 'update')
  const where = conjunction(...[writing, publishing, sharing].map(each => conditionOf(each, caller)))
  const visible = command.kind === 'create' || writing.opened ? null : visibleDocuments(type, caller)
  const shown = readableAttributes(caller.grants)(type)
  if (!('values' in command)) {
    const after = conditionAfter(command, where)
    const conditions = { ...UNCONDITIONAL, before: where, after, shown, visible }
    return brandCommand(command, conditions, actorOf(caller))
  }
  const values = permitValues(command, writing, caller)
  const conditions: WriteConditions = {
    before: command.kind === 'update' ? where : null,
    after: where,
    // Links that the server sets are not checked: the caller did not choose them.
    targets: targetsOf(command, writing, caller),
    drafts: visibleDrafts(type, caller),
    shown,
    visible,
  }
  return brandCommand({ ...command, values }, conditions, actorOf(caller))
}

type ValuesCommand = Extract<Command, { values: GivenValues }>

const NO_USER_VALUE = 'The caller has no value for a `$user.…` in `set` of the permission'

const UNRESTRICTED: WriteAccess = Object.freeze({ fields: null, where: null, set: {} })

const ACTIONS = {
  create: 'create',
  update: 'update',
  delete: 'delete',
  publish: 'publish',
  unpublish: 'publish',
  discardDraft: 'publish',
} as const satisfies Record<Command['kind'], WriteAction>

const actionOf = (command: Command): WriteAction =>
  createsLocalization(command) ? 'createLocalization' : ACTIONS[command.kind]

const createsLocalization = (command: Command): command is Extract<Command, { kind: 'update' }> =>
  command.kind === 'update' && command.locales === 'new'

/** Creating a localization with a value that all locales share also updates the others. */
const changesOtherLocales = (command: Command): boolean =>
  createsLocalization(command) &&
  Object.keys(command.values).some(name => command.type.attributes.get(name)?.localized === false)

/** Discarding copies the published version, so the resulting draft must meet the condition, too. */
const conditionAfter = ({ kind }: Command, where: Filter | null): Filter | null =>
  kind === 'discardDraft' ? where : null

/** True if the command changes the published version. */
const publishes = (command: Command): boolean =>
  'values' in command &&
  command.type.draftAndPublish &&
  (command.status === 'published' || (command.kind === 'update' && command.unpublishes === true))

const conditionOf = ({ where }: WriteAccess, { user }: Caller): Filter | null =>
  where && filterFor(where, user)

/** The body's values if the caller may write all of them, overridden by those that the server sets. */
function permitValues({ type, values }: ValuesCommand, access: WriteAccess, caller: Caller): GivenValues {
  const { set } = access
  const bound = bindUser(set, caller.user ?? {})
  if (bound === undefined) throw new RequestFault(forbidden(NO_USER_VALUE))
  for (const [name, value] of Object.entries(values)) {
    if (Object.hasOwn(set, name)) continue
    if (!mayContain(access, name)) throw new RequestFault(invalidBodyKey(name, name))
    const attribute = type.attributes.get(name)
    const links = attribute ? linksInValue(attribute, value) : []
    const hidden = links.find(({ kind, target }) => kind === 'relation' && !isFindable(target, caller))
    if (hidden) throw new RequestFault(invalidBodyKey(hidden.name, hidden.path))
  }
  return Object.keys(set).length === 0 ? values : { ...values, ...(bound as GivenValues) }
}

const isFindable = (type: ContentType, { grants }: Caller): boolean =>
  grants.readAccess(type, 'find') !== null

/** Relations, and media that are new to a document, may link only to documents that the caller may find (reference/safety.md#s5-links). */
function targetsOf(
  { type, values }: ValuesCommand,
  { set }: WriteAccess,
  caller: Caller,
): WriteConditions['targets'] {
  const targets = new Map<ContentType, readonly VisibleVersion[]>()
  for (const { kind, target } of distinctTargets({ type, values }, set)) {
    const visible = kind === 'media' ? linkableFiles(target, caller) : linkableDocuments(target, caller)
    if (visible) targets.set(target, visible)
  }
  return targets
}

type LinkTarget = Pick<BodyLink, 'kind' | 'target'>

/** The targets of the body's links, each once: a body may have a link in each of thousands of components. */
function distinctTargets(
  { type, values }: Pick<ValuesCommand, 'type' | 'values'>,
  set: WriteAccess['set'],
): readonly LinkTarget[] {
  const found = { media: new Set<ContentType>(), relation: new Set<ContentType>() }
  for (const [name, value] of Object.entries(values)) {
    const attribute = Object.hasOwn(set, name) ? undefined : type.attributes.get(name)
    for (const { kind, target } of attribute ? linksInValue(attribute, value) : []) found[kind].add(target)
  }
  // Relations come last: what they may link to is never more than what media may.
  return (['media', 'relation'] as const).flatMap(kind => [...found[kind]].map(target => ({ kind, target })))
}

/** The drafts of the type that the caller may read. A write must not reveal how hidden drafts are linked (reference/safety.md#s11-drafts). */
function visibleDrafts(type: ContentType, caller: Caller): VisibleDrafts | null {
  if (!type.draftAndPublish) return ALL_DRAFTS
  const access = caller.grants.readAccess(type, 'find') ?? caller.grants.readAccess(type, 'findOne')
  return access?.drafts ? { where: rowCondition(access, type, 'draft', { caller }) } : null
}

/** A relation or media attribute that a request body sets. */
interface BodyLink {
  readonly kind: 'relation' | 'media'
  readonly name: string
  /** The dotted path to the attribute, including its name, without list indexes. */
  readonly path: string
  readonly target: ContentType
}

/** The links that an attribute's value in a body sets, including those in components. */
function linksInValue(attribute: Attribute, value: unknown, path = attribute.name): readonly BodyLink[] {
  switch (attribute.kind) {
    case 'relation':
    case 'media':
      return [{ kind: attribute.kind, name: attribute.name, path, target: attribute.target }]
    case 'component':
      return itemsOf(value).flatMap(item => linksInComponent(attribute.component, item, path))
    case 'zone':
      return itemsOf(value).flatMap(item => {
        const component = attribute.components.find(({ uid }) => uid === item.__component)
        return component ? linksInComponent(component, item, path) : []
      })
    default:
      return []
  }
}

type ComponentBody = Readonly<Record<string, unknown>>

const itemsOf = (value: unknown): readonly ComponentBody[] =>
  (Array.isArray(value) ? value : [value]).filter(isRecord)

const linksInComponent = (component: Component, item: ComponentBody, path: string): readonly BodyLink[] =>
  Object.entries(item).flatMap(([name, value]) => {
    const attribute = component.attributes.get(name)
    return attribute ? linksInValue(attribute, value, `${path}.${name}`) : []
  })

/** The documents that a relation may link to; null: all of them. Drafts are hidden from callers who may not read them (reference/safety.md#s11-drafts). */
function linkableDocuments(target: ContentType, caller: Caller): readonly VisibleVersion[] | null {
  const access = caller.grants.readAccess(target, 'find')
  return access ? visibleIn(target, [access], caller) : []
}

/**
 * The files that a new media link may name; null: all of them. Without any permission to find files, media are open:
 * a condition on `find` or `findOne` is what hides files (reference/rest.md#17-differences-from-strapi).
 */
function linkableFiles(file: ContentType, caller: Caller): readonly VisibleVersion[] | null {
  const accesses = readAccessesOf(file, caller)
  return accesses.length === 0 ? null : visibleIn(file, accesses, caller)
}

/**
 * The documents of a type that the caller sees by any permission; null: all of them. Empty: the caller has no permission
 * to read the type, so nothing is visible, but nothing is hidden by a condition either.
 */
export function visibleDocuments(type: ContentType, caller: Caller): readonly VisibleVersion[] | null {
  const own = ownRecord(type, caller)
  const accesses = readAccessesOf(type, caller)
  const visible = accesses.length === 0 ? [] : visibleIn(type, accesses, caller)
  return visible === null || own === null ? visible : [...visible, own]
}

/** The attributes that may be read by any permission. */
const readableAttributes = memoize((grants: Grants) =>
  memoize(
    (type: ContentType): ReadonlySet<Attribute> =>
      new Set(readAccessesOf(type, { grants }).flatMap(({ readable }) => [...readable])),
  ),
)

/** The caller's permissions to read the type; empty: none. */
const readAccessesOf = (type: ContentType, { grants }: Pick<Caller, 'grants'>): readonly ReadAccess[] => {
  const actions = type.kind === 'single' ? (['find'] as const) : (['find', 'findOne'] as const)
  return actions.map(action => grants.readAccess(type, action)).filter(access => access !== null)
}

/** The caller's own user, if the type is `user` and the action `me` is granted. */
function ownRecord(type: ContentType, { grants, user }: Caller): VisibleVersion | null {
  const id = type.attributes.get('id')
  if (!type.builtIn || type.key !== 'user' || id?.kind !== 'scalar') return null
  if (typeof user?.id !== 'number' || !grants.readAccess(type, 'me')) return null
  const where: Filter = { kind: 'comparison', attribute: id, operator: '$eq', values: [user.id] }
  return { status: 'published', where }
}

/** The versions that any of the permissions shows, for each status; null: all of them. */
function visibleIn(
  type: ContentType,
  accesses: readonly ReadAccess[],
  caller: Caller,
): readonly VisibleVersion[] | null {
  const statuses: readonly Status[] = type.draftAndPublish ? STATUSES : ['published']
  const visible = statuses.flatMap((status): readonly VisibleVersion[] => {
    const showing = accesses.filter(({ drafts }) => status === 'published' || drafts !== null)
    if (showing.length === 0) return []
    return [{ status, where: anyOf(showing.map(access => rowCondition(access, type, status, { caller }))) }]
  })
  // Every document has a version of this status.
  const always: Status = type.draftAndPublish ? 'draft' : 'published'
  return visible.some(({ status, where }) => status === always && where === null) ? null : visible
}

/** The disjunction; null: one of the conditions holds for every row. */
function anyOf(conditions: readonly (Filter | null)[]): Filter | null {
  const [first, ...others] = conditions
  if (others.length === 0) return first ?? null
  const filters = conditions.filter(condition => condition !== null)
  return filters.length < conditions.length ? null : { kind: 'or', filters }
}
