import type { Caller } from '../access/caller.ts'
import type { Result } from '../base/result.ts'
import type { Documents } from '../documents/documents.ts'
import { toPluginError } from '../faults/errors.ts'
import { type Fault, fault } from '../faults/fault.ts'
import type { ContentType, Model } from '../model/model.ts'
import type { RestSettings } from '../project/settings/settings.ts'

/** Services and settings that the documents API uses. */
export interface DocumentsTerms {
  readonly model: Model
  readonly documents: Documents
  readonly settings: RestSettings
}

/** The content-type and caller of an action. */
export interface ActionCall {
  readonly type: ContentType
  /** null: trusted project code, which has all permissions. */
  readonly caller: Caller | null
  readonly terms: DocumentsTerms
  /** The caller's own parameters, if middlewares changed them. */
  readonly original: Params | null
}

/** Checked parameters of an action: known keys and plain values. */
export type Params = Readonly<Record<string, unknown>>

/** Performs all checks that need no database; the returned function performs the action. Both throw RequestFaults. */
export type PrepareAction = (params: Params, call: ActionCall) => () => Promise<unknown>

/** Returns the value of a result, or throws its fault. */
export function unwrapOrThrow<Value>(result: Result<Value, Fault>): Value {
  if (result.ok) return result.value
  throw toPluginError(result.reasons[0] ?? fault('internal', 'A refusal without a reason'))
}

export const invalidParam = (message: string, key: string): Error =>
  toPluginError(fault('validation', message, { key }))
