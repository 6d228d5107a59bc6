import type { Statement } from '../sql/statement.ts'

/** A read whose answer can be kept. */
export interface Reading {
  /** Equal for equal statements with equal values. */
  readonly key: string
  /**
   * Answers the JSON text or null, and the version of the tables that it comes from. Where a total is asked for also
   * the version of its tables, and the total; or null, where the value behind all others is that version.
   */
  readonly statement: Statement
  /** SQL that answers the text, or null, and the total where one is asked for, with the same values. */
  readonly plain: string
  /** SQL that answers the version of its tables, as it is now. */
  readonly version: string
  /** As `key`, of the total alone: lists that differ in their pages have the same. null: none is asked for. */
  readonly totalKey: string | null
}

/** What a reading has found. */
export interface Found {
  /** JSON; null: there is no such document. */
  readonly text: string | null
  readonly total: number | null
}

export interface AskedBody {
  /** Names all that `print` looks at beside what was found: equal forms print equal bodies. */
  readonly form: string
  /** null: the answer is no body. That is not kept. */
  readonly print: (found: Found) => string | null
}

/** Text has no tag yet. */
export type FoundBody = Body | string

/** `tag`: its entity tag, without quotes. */
export interface Body {
  readonly bytes: Buffer
  readonly tag: string
}
