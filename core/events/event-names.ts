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
  const types = tellingTypes(model)
  const unknown = `unknown event \`${pattern}\``
  if (isSilent(key, model)) return `${unknown}: documents of \`${key}\` tell of nothing`
  const meant = types.filter(type => isNamed(type, key))
  const isAction = action === '*' || EVENT_ACTIONS.some(each => each === action)
  if (meant.length === 0 || !isAction) return `${unknown}${hintFor(pattern, types)}`
  if (!OF_DRAFTS.has(action) || meant.some(type => type.draftAndPublish)) return undefined
  const who = key === '*' ? 'no content-type has' : `\`${key}\` has no`
  return `${unknown}: ${who} drafts (draftAndPublish)`
}

/** Whether it names what happened. */
export function isMeant(pattern: EventPattern, type: ContentType, action: EventAction): boolean {
  const { key, action: named } = partsOf(pattern)
  return isTelling(type) && isNamed(type, key) && (named === '*' || named === action)
}

/** Whoever listens to everything means the project's own types: users and files are named. */
const isNamed = ({ key, builtIn }: ContentType, name: string): boolean =>
  name === key || (name === '*' && !builtIn)

/** What project.yaml says is no event: roles and locales. */
const isTelling = ({ builtIn, key }: ContentType): boolean => !builtIn || key === 'user' || key === 'file'

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

const tellingTypes = ({ contentTypes }: Model): readonly ContentType[] =>
  [...contentTypes.values()].filter(isTelling)

const isSilent = (key: string, { contentTypes }: Model): boolean =>
  [...contentTypes.values()].some(type => type.key === key && !isTelling(type))

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
