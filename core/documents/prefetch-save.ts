import { readableAttributes } from '../access/readable-attributes.ts'
import { ignoreUnhandled } from '../base/with-timeout.ts'
import type { Attribute, Holder } from '../model/model.ts'
import type { DesiredDocument, Values } from './desired-state.ts'
import type { Answer } from './documents.ts'
import type { FoundTargets, HeldFiles } from './links/link-targets.ts'
import type { OptimisticTargets } from './optimistic-targets.ts'
import { choiceOf, countMatching, visibleBy, visibleLocales } from './read/matching.ts'
import { assertUnchanged } from './read/read-answer.ts'
import { isShared } from './rows/planning.ts'
import { type Current, type Desired, loadDocument, NO_CURRENT_ROWS } from './rows/write-load.ts'
import type { WriteOptions } from './rows/write-options.ts'
import { findSavedTargets } from './state/new-values.ts'
import {
  type ContextInput,
  changesAllLocales,
  claimedVersion,
  type SaveCommand,
  type Saving,
  versionContextOf,
} from './state/version-context.ts'
import { valuesOf } from './state/version-values.ts'
import { findUniqueConflicts } from './unique/unique-conflicts.ts'
import type { GivenBody } from './values/given-body.ts'

export interface Save {
  readonly command: SaveCommand
  readonly answer: Answer
  readonly body: GivenBody
}

export interface PrefetchOptions extends WriteOptions {
  /** Sends statements early (prefetch.ts). */
  readonly prefetch: WriteOptions['transaction']
  /** Cached link targets, which need no statement. */
  readonly recalled?: OptimisticTargets | undefined
}

/** Results of all statements that can be sent before the stored state is known. Each rejects when awaited. */
export interface PrefetchedSave {
  /** Locks the rows, so later statements see the state that is checked. */
  readonly current: Promise<Current>
  readonly unchanged: Promise<void>
  readonly targets: Promise<FoundTargets>
}

export interface Subject {
  /** The existing document; null: it is to be created. */
  readonly known: string | null
  /** Id of the existing or new document. */
  readonly documentId: string
  readonly wanted: Desired
}

/** Sends all statements in one round trip. */
export function prefetchSave(
  { command, answer, body }: Save,
  { known, documentId, wanted }: Subject,
  { prefetch, ...options }: PrefetchOptions,
): PrefetchedSave {
  const { type, conditions } = command
  // Targets are locked before the document, in the order of a deletion of a target.
  const targets = options.recalled
    ? Promise.resolve(options.recalled.targets)
    : findSavedTargets(command, body, {
        ...options,
        visible: visibleBy(conditions, options),
        held: async () => heldFiles({ command, documentId, body, current: await current, options }),
      })
  const current =
    known === null
      ? Promise.resolve(NO_CURRENT_ROWS)
      : loadDocument({ type, documentId: known }, wanted, options)
  const prefetching = { ...options, transaction: prefetch }
  prefetchBefore(command, known, prefetching)
  const unchanged =
    command.kind === 'update'
      ? assertUnchanged(command.precondition, [answer], known, options)
      : Promise.resolve()
  prefetchConflicts({ command, body }, documentId, prefetching)
  return {
    current: ignoreUnhandled(current),
    unchanged: ignoreUnhandled(unchanged),
    targets: ignoreUnhandled(targets),
  }
}

function prefetchBefore(command: SaveCommand, known: string | null, options: WriteOptions) {
  const { type, conditions } = command
  if (known === null) return
  ignoreUnhandled(visibleLocales({ ...command, documentId: known }, options))
  if (!conditions.before) return
  const locale = choiceOf(type, changesAllLocales(command) ? null : command.locale)
  const match = { type, documentIds: [known], locale, filter: conditions.before }
  ignoreUnhandled(countMatching(match, options))
}

/** Prefetches the unique check of the body's values. */
function prefetchConflicts(
  { command, body }: Omit<Save, 'answer'>,
  documentId: string,
  options: WriteOptions,
) {
  if (body.faults.length > 0) return
  const { type } = command
  const document: DesiredDocument = { type, documentId, versions: [claimedVersion(command, body.values)] }
  ignoreUnhandled(findUniqueConflicts([document], options))
}

/**
 * The files that a document holds in attributes which the caller reads. A body may name such a file again in the same
 * attribute although the caller may not find it: the link is not new, and shows nothing that the caller does not see.
 */
function heldFiles({ body, ...saving }: ContextInput & Pick<Saving, 'body'>): HeldFiles {
  const { command } = saving
  const { type, conditions } = command
  const { row, sibling, place } = versionContextOf(saving)
  const isHeld = (attribute: Attribute) =>
    body.names(attribute) &&
    conditions.shown?.has(attribute) === true &&
    (row !== undefined || isShared(type, attribute))
  const from = row ?? sibling
  const attributes = [...type.attributes.values()].filter(isHeld)
  const held = new Map<string, Set<number>>()
  if (from) collect({ holder: type, values: valuesOf(type, from, attributes, place), path: '' }, held)
  return media => held.get(media) ?? new Set()
}

interface Place {
  readonly holder: Holder
  readonly values: Values
  /** The path in the form of `refsIn` (link-targets.ts). */
  readonly path: string
}

function collect({ holder, values, path }: Place, held: Map<string, Set<number>>): void {
  for (const [name, value] of values) {
    const here = path + name
    if (value.kind === 'components')
      for (const { component, values: inner } of value.items)
        collect(
          { holder: component, values: readable(component, inner), path: `${here}.${component.uid} ` },
          held,
        )
    if (value.kind !== 'links' || holder.attributes.get(name)?.kind !== 'media') continue
    const keys = held.get(here) ?? new Set()
    for (const { key } of value.targets) if (key !== undefined) keys.add(key)
    held.set(here, keys)
  }
}

function readable(holder: Holder, values: Values): Values {
  const names = new Set([...readableAttributes(holder)].map(({ name }) => name))
  return new Map([...values].filter(([name]) => names.has(name)))
}
