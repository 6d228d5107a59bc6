/** `fault`: wrong or unsafe; `advice`: could be faster or safer. */
export type Severity = 'fault' | 'advice'

/** One piece of advice about a project or its database. */
export interface Advice {
  readonly severity: Severity
  readonly code: AdviceCode
  /** A content-type, a table, or a key of project.yaml. */
  readonly about: string
  /** The finding and why it matters: a sentence without its full stop. */
  readonly found: string
  /** The remedy. */
  readonly remedy: string
  /** Lines to paste into project.yaml. */
  readonly paste?: string
}

export type AdviceCode =
  | 'slow-read'
  | 'deep-page'
  | 'long-relation'
  | 'unused-index'
  | 'needless-index'
  | 'invalid-index'
  | 'no-version'
  | 'no-statistics'
  | 'dead-rows'
  | 'not-migrated'
  | 'weak-secret'
  | 'public-drafts'
  | 'embedded'
  | 'no-limit'
  | 'no-cache'
  | 'no-slow-log'
  | 'no-timeout'
  | 'connections'
  | 'replica-behind'

/** 1200000 → `1,200,000`. */
export const counted = (count: number): string => Math.round(count).toLocaleString('en')
