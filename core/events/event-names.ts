import { createHash } from 'node:crypto'
import { didYouMean, nearest } from '../base/nearest.ts'
import { EVENT_ACTIONS, type EventAction } from '../documents/outbox.ts'
import type { ContentType, Model } from '../model/model.ts'
import type { EventPattern } from './events.ts'

/** What only versions that are told apart by status go through. */
const OF_DRAFTS: ReadonlySet<string> = new Set<EventAction>(['publish', 'unpublish', 'discardDraft'])

/** What is wrong with the name of an event, in one sentence; undefined: nothing. */
export function faultOfEvent(pattern: string, model: Model): string | undefined {
  const { key, action } = partsOf(pattern)
  const types = declaredTypes(model)
  const unknown = `unknown event \`${pattern}\``
  if (isBuiltIn(key, model)) return `${unknown}: documents of \`${key}\` tell of nothing`
  const meant = types.filter(type => key === '*' || type.key === key)
  const isAction = action === '*' || EVENT_ACTIONS.some(each => each === action)
  if (meant.length === 0 || !isAction) return `${unknown}${hintFor(pattern, types)}`
  if (!OF_DRAFTS.has(action) || meant.some(type => type.draftAndPublish)) return undefined
  const who = key === '*' ? 'no content-type has' : `\`${key}\` has no`
  return `${unknown}: ${who} drafts (draftAndPublish)`
}

/** Whether it names what happened. */
export function isMeant(pattern: EventPattern, { key, builtIn }: ContentType, action: EventAction): boolean {
  const parts = partsOf(pattern)
  return (
    !builtIn && (parts.key === '*' || parts.key === key) && (parts.action === '*' || parts.action === action)
  )
}

const LONGEST_KEY = 255

/**
 * What events wait for a listener by. `place`: how many listeners of the same pattern the extension has before it.
 * The same after a restart as long as the file and the pattern are.
 */
export function listenerKey(extension: string, pattern: EventPattern, place: number): string {
  const key = `${extension} ${pattern}${place === 0 ? '' : ` ${place + 1}`}`
  if (key.length <= LONGEST_KEY) return key
  const hash = createHash('sha256').update(key).digest('hex')
  return `${key.slice(0, LONGEST_KEY - hash.length - 1)} ${hash}`
}

interface Parts {
  readonly key: string
  readonly action: string
}

function partsOf(pattern: string): Parts {
  const dot = pattern.lastIndexOf('.')
  return { key: pattern.slice(0, Math.max(dot, 0)), action: pattern.slice(dot + 1) }
}

const declaredTypes = ({ contentTypes }: Model): readonly ContentType[] =>
  [...contentTypes.values()].filter(({ builtIn }) => !builtIn)

const isBuiltIn = (key: string, { contentTypes }: Model): boolean =>
  [...contentTypes.values()].some(type => type.builtIn && type.key === key)

/** A part that is right stays as it is. */
function hintFor(pattern: string, types: readonly ContentType[]): string {
  const { key, action } = partsOf(pattern)
  const keys = ['*', ...types.map(type => type.key)]
  const actions = ['*', ...EVENT_ACTIONS]
  const near = { key: nearest(key, keys), action: nearest(action, actions) }
  const isNear = near.key !== undefined && near.action !== undefined
  const hint = isNear ? didYouMean(pattern, [`${near.key}.${near.action}`]) : ''
  const given = EVENT_ACTIONS.map(each => `\`${each}\``).join(', ')
  return hint || `: it is a content-type's name or \`*\`, a dot, and ${given} or \`*\``
}
