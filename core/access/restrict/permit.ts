import { failed, ok, type Result } from '../../base/result.ts'
import { type Fault, forbidden, invalidBodyKey } from '../../faults/fault.ts'
import type { ContentType } from '../../model/model.ts'
import type { Command, GivenValues, PermittedCommand, Sight, WriteConditions } from '../../query/command.ts'
import type { Filter } from '../../query/query.ts'
import { actorOf } from '../actor.ts'
import { brandCommand } from '../brand.ts'
import type { Caller, WriteAction, Writing } from '../caller.ts'
import { conjunction, filterFor } from '../compile/condition.ts'
import { bindUser } from '../user-path.ts'
import { linksIn } from './given-links.ts'
import { rowCondition } from './read-scope.ts'
import { linkSights, mediaSights, ownSights, shownAttributes } from './sights.ts'

/**
 * The one gate between a request and what it changes: a command with what its caller may not choose put in, and
 * the conditions that its rows must meet. Refuses (403) an action that is not granted, publishing included, and
 * (400) attributes that he may not write and relations to types that he may not `find` (contract/rest.md 9).
 */
export function permit<Kind extends Command>(
  command: Kind,
  caller: Caller,
): Result<PermittedCommand<Kind>, Fault> {
  const { type } = command
  const writing = caller.grants.writing(type, actionOf(command))
  const publishing = publishes(command) ? caller.grants.writing(type, 'publish') : EVERYTHING
  const sharing = changesOthers(command) ? caller.grants.writing(type, 'update') : EVERYTHING
  if (!writing || !publishing || !sharing) return failed(forbidden())
  const where = conjunction(...[writing, publishing, sharing].map(each => conditionOf(each, caller)))
  const sights = command.kind === 'create' || writing.opened ? null : ownSights(type, caller)
  if (!('values' in command)) {
    const conditions = { before: where, after: afterOf(command, where), targets: NO_TARGETS, sights }
    return ok(brandCommand(command, conditions, actorOf(caller)))
  }
  const values = permitValues(command, writing, caller)
  if (!values.ok) return values
  const conditions: WriteConditions = {
    before: command.kind === 'update' ? where : null,
    after: where,
    // What the server sets is not the caller's choice, so he need not see it.
    targets: targetsOf(command, writing, caller),
    ...draftsOf(type, caller),
    shown: shownAttributes(type, caller),
    sights,
  }
  return ok(brandCommand({ ...command, values: values.value }, conditions, actorOf(caller)))
}

type ValuesCommand = Extract<Command, { values: GivenValues }>

const EVERYTHING: Writing = Object.freeze({ fields: null, where: null, set: {} })

const NO_TARGETS: WriteConditions['targets'] = new Map()

const ACTIONS = {
  create: 'create',
  update: 'update',
  delete: 'delete',
  publish: 'publish',
  unpublish: 'publish',
  discardDraft: 'publish',
} as const satisfies Record<Command['kind'], WriteAction>

const actionOf = (command: Command): WriteAction =>
  makesLocale(command) ? 'createLocalization' : ACTIONS[command.kind]

const makesLocale = (command: Command): command is Extract<Command, { kind: 'update' }> =>
  command.kind === 'update' && command.locales === 'new'

/** What all locales share is not the new one's alone. */
const changesOthers = (command: Command): boolean =>
  makesLocale(command) &&
  Object.keys(command.values).some(name => command.type.attributes.get(name)?.localized === false)

/** A draft alone becomes another document's equal. */
const afterOf = ({ kind }: Command, where: Filter | null): Filter | null =>
  kind === 'discardDraft' ? where : null

const publishes = (command: Command): boolean =>
  'values' in command &&
  command.type.draftAndPublish &&
  (command.status === 'published' || (command.kind === 'update' && command.unpublishes === true))

const conditionOf = ({ where }: Writing, { user }: Caller): Filter | null => where && filterFor(where, user)

/** The given values that the caller may give, and beside or instead of them what the server sets. */
function permitValues(
  { type, values }: ValuesCommand,
  { fields, set }: Writing,
  caller: Caller,
): Result<GivenValues, Fault> {
  const bound = bindUser(set, caller.user ?? {})
  if (bound === undefined) return failed(forbidden())
  const given = Object.entries(values).filter(([name]) => !Object.hasOwn(set, name))
  for (const [name, value] of given) {
    if (fields && !fields.has(name)) return failed(invalidBodyKey(name, name))
    const attribute = type.attributes.get(name)
    const links = attribute ? linksIn(attribute, value) : []
    const hidden = links.find(({ kind, target }) => kind === 'relation' && !isFindable(target, caller))
    if (hidden) return failed(invalidBodyKey(hidden.name, hidden.path))
  }
  return ok({ ...Object.fromEntries(given), ...(bound as GivenValues) })
}

const isFindable = (type: ContentType, { grants }: Caller): boolean => grants.view(type, 'find') !== null

/** Relations, and media that are new to a document, lead only to what the caller may find (safety S5). */
function targetsOf(
  { type, values }: ValuesCommand,
  { set }: Writing,
  caller: Caller,
): WriteConditions['targets'] {
  const targets = new Map<ContentType, readonly Sight[]>()
  for (const [name, value] of Object.entries(values)) {
    const attribute = Object.hasOwn(set, name) ? undefined : type.attributes.get(name)
    for (const { kind, target } of attribute ? linksIn(attribute, value) : []) {
      const sights = kind === 'media' ? mediaSights(target, caller) : linkSights(target, caller)
      if (sights) targets.set(target, sights)
    }
  }
  return targets
}

/** Which drafts of the type the caller sees: what he writes may not tell him how others are linked (safety S11). */
function draftsOf(type: ContentType, caller: Caller): Pick<WriteConditions, 'drafts'> {
  if (!type.draftAndPublish) return {}
  const view = caller.grants.view(type, 'find') ?? caller.grants.view(type, 'findOne')
  if (!view?.drafts) return { drafts: null }
  const where = rowCondition(view, type, 'draft', { caller })
  return where === null ? {} : { drafts: { where } }
}
