import { createHash } from 'node:crypto'
import { didYouMean, nearest } from '../base/nearest.ts'
import { EVENT_ACTIONS, type EventAction } from '../documents/outbox.ts'
import type { ContentType, Model } from '../model/model.ts'
import type { EventPattern } from './events.ts'

/** Actions that only content-types with drafts have. */
const DRAFT_ACTIONS: ReadonlySet<string> = new Set<EventAction>(['publish', 'unpublish', 'discardDraft'])

/** One sentence that says what is wrong with an event pattern; undefined if it is valid. */
export function eventPatternFault(pattern: string, model: Model): string | undefined {
  const { key, action } = splitPattern(pattern)
  const types = observableTypes(model)
  const unknown = `unknown event \`${pattern}\``
  if (hasNoEvents(key, model)) return `${unknown}: documents of \`${key}\` have no events`
  const matching = types.filter(type => matchesType(type, key))
  const isAction = action === '*' || EVENT_ACTIONS.some(each => each === action)
  if (matching.length === 0 || !isAction) return `${unknown}${patternHint(pattern, types)}`
  if (!DRAFT_ACTIONS.has(action) || matching.some(type => type.draftAndPublish)) return undefined
  const who = key === '*' ? 'no content-type has' : `\`${key}\` has no`
  return `${unknown}: ${who} drafts (draftAndPublish)`
}

/** True if the pattern matches this action on this content-type. */
export function matchesPattern(pattern: EventPattern, type: ContentType, action: EventAction): boolean {
  const { key, action: named } = splitPattern(pattern)
  return emitsEvents(type) && matchesType(type, key) && (named === '*' || named === action)
}

/** `*` covers the project's own content-types only: events of users and files must be named. */
const matchesType = ({ key, builtIn }: ContentType, name: string): boolean =>
  name === key || (name === '*' && !builtIn)

/** Roles and locales have no events: their rows follow project.yaml. */
const emitsEvents = ({ builtIn, key }: ContentType): boolean => !builtIn || key === 'user' || key === 'file'

const MAX_KEY_LENGTH = 255

/**
 * The key that assigns stored events to a listener. It survives restarts as long as the extension's file name and the
 * pattern stay the same. `place`: number of earlier listeners of the same extension with the same pattern.
 */
export function listenerKey(extension: string, pattern: EventPattern, place: number): string {
  const key = `${extension} ${pattern}${place === 0 ? '' : ` ${place + 1}`}`
  if (key.length <= MAX_KEY_LENGTH) return key
  const hash = createHash('sha256').update(key).digest('hex')
  return `${key.slice(0, MAX_KEY_LENGTH - hash.length - 1)} ${hash}`
}

interface PatternParts {
  readonly key: string
  readonly action: string
}

function splitPattern(pattern: string): PatternParts {
  const dot = pattern.lastIndexOf('.')
  return { key: pattern.slice(0, Math.max(dot, 0)), action: pattern.slice(dot + 1) }
}

const observableTypes = ({ contentTypes }: Model): readonly ContentType[] =>
  [...contentTypes.values()].filter(emitsEvents)

const hasNoEvents = (key: string, { contentTypes }: Model): boolean =>
  [...contentTypes.values()].some(type => type.key === key && !emitsEvents(type))

/** Suggests the nearest pattern. A part that is already valid is kept. */
function patternHint(pattern: string, types: readonly ContentType[]): string {
  const { key, action } = splitPattern(pattern)
  const keys = ['*', ...types.map(type => type.key)]
  const actions = ['*', ...EVENT_ACTIONS]
  const near = { key: nearest(key, keys), action: nearest(action, actions) }
  const isNear = near.key !== undefined && near.action !== undefined
  const hint = isNear ? didYouMean(pattern, [`${near.key}.${near.action}`]) : ''
  const actionNames = EVENT_ACTIONS.map(each => `\`${each}\``).join(', ')
  return hint || `: it is a content-type's name or \`*\`, a dot, and ${actionNames} or \`*\``
}
