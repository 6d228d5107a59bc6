import { sameList } from './literals.ts'

/**
 * The order of a plan's steps: renames, new objects, looser rules, removed constraints, data changes, converted rows,
 * filled columns, stricter rules, drops. `release` removes references from dropped objects to kept ones.
 */
export const PHASES = [
  'rename',
  'create',
  'loosen',
  'release',
  'change',
  'values',
  'reshape',
  'fill',
  'tighten',
  'drop',
] as const
export type Phase = (typeof PHASES)[number]

/** A result of comparing the model with the database. */
export type SchemaFinding = Step | SchemaPrecondition | SchemaRefusal | Leftover

/** The risk of a change: none, waiting writers, or lost data. Each level includes the lower ones. */
export const RISKS = ['safe', 'slow', 'destructive'] as const
export type Risk = (typeof RISKS)[number]

/**
 * The part of a rollout in which a step may run. `expand`: while the previous version serves. `contract`: after the previous
 * version has ended. `stop`: no version may serve meanwhile.
 */
export const ROLLOUT_PHASES = ['expand', 'contract', 'stop'] as const
export type RolloutPhase = (typeof ROLLOUT_PHASES)[number]

/** The sessions that a step blocks from a table until commit. Each mode includes the weaker ones. */
export const LOCK_MODES = ['vacuum', 'writers', 'everybody'] as const
export type LockMode = (typeof LOCK_MODES)[number]

export interface TableLock {
  /** The name before the migration; null: every table that Plinth created. */
  readonly table: string | null
  readonly from: LockMode
}

/** A change. Preconditions describe its risk. */
export interface Step {
  readonly kind: 'step'
  readonly phase: Phase
  /** Locks on existing tables. PostgreSQL would take them one by one; `lockTables` (migrate-under-lock.ts) takes them in advance. */
  readonly locks: readonly TableLock[]
  /** One line for a reader: `add column "rating" to "articles"`. */
  readonly summary: string
  readonly statements: readonly string[]
  /** The step runs only if this counts rows; null: always. */
  readonly onlyIf: RowCountQuery | null
  /** How the step runs outside of a transaction, without blocking writers; null: it does not. */
  readonly concurrentIndex: ConcurrentIndex | null
  /** Overrides the phase's default. */
  readonly window?: RolloutPhase
  /** The statements that run while an older version serves, if an expand step leaves the rest for later. */
  readonly expands?: readonly string[]
  /** Follows from other steps of its table: plans and reports do not list it by itself. */
  readonly isImplied?: true
}

/** Work outside of a transaction: an index, or rows that are filled in small transactions. */
export interface ConcurrentIndex {
  /** The name of the index, with its schema's, as SQL writes them; null: no index. */
  readonly index: string | null
  readonly make: string
  /** Removes what a failed `make` leaves behind; null: nothing is left. */
  readonly undo: string | null
}

/** SQL that answers one row: `rows` (the number of violating rows) and `values` (some of their values, a JSON list of texts). */
export type RowCountQuery = string

/** Met if `countQuery` counts no rows. Otherwise the whole plan is refused, unless the caller accepts `price`. */
export interface SchemaPrecondition {
  readonly kind: 'precondition'
  readonly code: RefusalCode
  readonly table: string
  readonly countQuery: RowCountQuery
  /** `{rows}` is replaced by "1 row" or "5 rows", `{values}` by the values. */
  readonly message: string
  /** The cost of an override; absent: no override is possible. */
  readonly price?: OverrideCost
}

/** The cost of some steps if rows were found. */
export interface OverrideCost {
  readonly weight: Exclude<Risk, 'safe'>
  /** The reason why writers wait, or the data that is lost; `{rows}` as in messages. */
  readonly note: string
  readonly steps: readonly Step[]
}

export const REFUSAL_CODES = [
  'damaged-record',
  'foreign-table',
  'no-extension',
  'foreign-index',
  'foreign-constraint',
  'foreign-column',
  'vanished-table',
  'vanished-column',
  'vanished-rows',
  'type-change',
  'lost-versions',
  'lost-links',
  'lost-values',
  'needs-stop',
  'others-serving',
  'key-change',
  'needs-value',
  'not-unique',
  'value-in-use',
  'several-documents',
  'assigned-role',
  'dangling-link',
  'too-large',
  'migration-changed',
  'migration-missing',
  'migration-order',
  'migration-failed',
  'busy',
  'database',
] as const
export type RefusalCode = (typeof REFUSAL_CODES)[number]

/** Why the schema is not changed; the message says what to do. */
export interface SchemaRefusal {
  readonly kind: 'refusal'
  readonly code: RefusalCode
  /** null: not about one table. */
  readonly table: string | null
  readonly message: string
  /** Earlier steps were committed and remain. */
  readonly partly?: true
}

/** A table or column that Plinth created, that the model no longer has, and that stays in the database. */
export interface Leftover {
  readonly kind: 'left'
  readonly table: string
  /** null: the table itself. */
  readonly column: string | null
  /** The steps that drop it, if the caller allows destructive steps. */
  readonly drop: readonly Step[]
}

/** True if an allowed risk includes another one. */
export const permits = (allowed: Risk, weight: Risk): boolean =>
  RISKS.indexOf(weight) <= RISKS.indexOf(allowed)

/** The steps in the order of execution. */
export const sortByPhase = (steps: readonly Step[]): readonly Step[] =>
  PHASES.flatMap(phase => steps.filter(one => one.phase === phase))

/** A step that writes rows. It locks all tables, because foreign keys also touch referencing and referenced rows. */
export const step = (phase: Phase, summary: string, ...statements: readonly string[]): Step => ({
  kind: 'step',
  phase,
  locks: [{ table: null, from: 'writers' }],
  summary,
  statements,
  onlyIf: null,
  concurrentIndex: null,
})

/** One without statements: previous versions, whose writes it excludes, end before the migration goes on. */
export const endPrevious = (summary: string): Step => ({ ...step('tighten', summary), locks: [] })

/** One that changes this table, and no other. */
export const tableStep = (
  table: string,
  phase: Phase,
  summary: string,
  ...statements: readonly string[]
): Step => ({ ...step(phase, summary, ...statements), ...withLock('everybody', table) })

export const withLock = (from: LockMode, ...tables: readonly string[]): Pick<Step, 'locks'> => ({
  locks: tables.map(table => ({ table, from })),
})

export const refusal = (code: RefusalCode, table: string | null, message: string): SchemaRefusal => ({
  kind: 'refusal',
  code,
  table,
  message,
})

/** How messages name the successor (`renamedFrom`) of what is gone. `taken`: the name under which there is another one already. */
export const describeSuccessor = (
  kind: 'column' | 'table',
  taken: string | undefined,
  dropOf: (name: string) => string,
): { readonly lost: string; readonly advice: string } =>
  taken === undefined
    ? { lost: '', advice: 'name it as `renamedFrom` of its successor' }
    : {
        lost: `, which ${kind} "${taken}" (\`renamedFrom\`) does not get, because it is there already`,
        advice: `drop the other one first with ${dropOf(taken)}`,
      }

/** The advice to declare a rename, if something new may be the successor of what is gone; else empty. */
export const renameAdvice = (former: string, successors: readonly string[]): string =>
  successors.length === 0
    ? ''
    : ` (${successors.map(name => `\`renamedFrom: ${former}\` in \`${name}\``).join(' or ')})`

/** What the plan says of a removal. `rename`: the advice of `renameAdvice`. */
export const lossNote = (what: string, lost: string, rename: string): string =>
  rename === '' ? `loses ${what}${lost}` : `loses ${what}${lost}, unless it is renamed${rename}`

/** Continues the summary of a step that creates what `plinth_tables` records, but the database no longer has. */
export const describeDropped = (isRecorded: boolean, what: 'rows' | 'values'): string =>
  isRecorded ? `, which was dropped or renamed by hand, with its ${what}` : ''

/**
 * The rollout phase of each step, from the view of an older version that is still serving. It does not use new objects, and
 * looser rules do not affect it. The names and meanings that it relies on must not change; stricter rules wait for its end.
 */
const BY_PHASE: Readonly<Record<Phase, RolloutPhase>> = {
  rename: 'stop',
  create: 'expand',
  loosen: 'expand',
  change: 'expand',
  values: 'stop',
  reshape: 'stop',
  fill: 'contract',
  tighten: 'contract',
  release: 'contract',
  drop: 'contract',
}

export const rolloutPhaseOf = ({ phase, window }: Step): RolloutPhase => window ?? BY_PHASE[phase]

/** True if an older version may serve during the whole step, including the part that `--expand` leaves out. */
export const isBackwardCompatible = (step: Step): boolean =>
  rolloutPhaseOf(step) === 'expand' && (step.expands === undefined || sameList(step.expands, step.statements))

/** The part of the steps that may run while the previous version serves. */
export const expandSteps = (steps: readonly Step[]): readonly Step[] =>
  steps
    .filter(step => rolloutPhaseOf(step) === 'expand')
    .map(step => (step.expands === undefined ? step : { ...step, statements: step.expands }))
