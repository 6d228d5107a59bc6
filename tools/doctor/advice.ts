/** `fault`: something is wrong, or unsafe; `advice`: it could be faster, or safer. */
export type Severity = 'fault' | 'advice'

/** What there is to say about a project and its database. */
export interface Advice {
  readonly severity: Severity
  readonly code: AdviceCode
  /** A content-type, a table, or a key of project.yaml. */
  readonly about: string
  /** What was found, and why it matters. A sentence without its full stop. */
  readonly found: string
  /** What to do about it. */
  readonly remedy: string
  /** Lines for project.yaml. */
  readonly paste?: string
}

export type AdviceCode =
  | 'slow-read'
  | 'deep-page'
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
