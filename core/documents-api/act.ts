import type { Caller } from '../access/caller.ts'
import type { Documents } from '../documents/documents.ts'
import type { ContentType, Model } from '../model/model.ts'
import type { RestSettings } from '../project/settings/settings.ts'

/** What the documents of code need of the server. */
export interface ActTerms {
  readonly model: Model
  readonly documents: Documents
  readonly settings: RestSettings
}

/** On whose behalf an action is done, and to what. */
export interface Act {
  readonly type: ContentType
  /** null: the code's own, which may do everything. */
  readonly who: Caller | null
  readonly terms: ActTerms
  /** What the caller asked for, where middlewares made something else of it. */
  readonly asked: Params | null
}

/** Of an action: known keys, plain values. */
export type Params = Readonly<Record<string, unknown>>

/** Checks all of an action that can be without the database, then does it. Both throw RequestFaults. */
export type Prepare = (params: Params, act: Act) => () => Promise<unknown>
