import { sameList } from './literals.ts'

/**
 * The order in which a plan's steps are done: names first, then what makes room (`release`: what goes
 * lets go of what stays), data, rows that come to mean something else, what fills them, what narrows, what goes.
 */
export const PHASES = [
  'rename',
  'create',
  'loosen',
  'release',
  'change',
  'values',
  'shift',
  'fill',
  'tighten',
  'drop',
] as const
export type Phase = (typeof PHASES)[number]

/** What comparing the model with the database brings to light. */
export type SchemaFinding = Step | Precondition | SchemaRefusal | Leftover

/** What a change costs: nothing, the patience of writers, or what is there. Each includes those before it. */
export const RISKS = ['safe', 'slow', 'destructive'] as const
export type Risk = (typeof RISKS)[number]

/**
 * Whether the version of a project that is running can go on while a step is done: `expand`: it can; `contract`: once
 * it has ended; `stop`: neither it nor the new one can serve before and after.
 */
export const ROLLOUT_PHASES = ['expand', 'contract', 'stop'] as const
export type RolloutPhase = (typeof ROLLOUT_PHASES)[number]

/** Whom a step keeps away from a table, to the end of its transaction. Each includes those before it. */
export const LOCK_MODES = ['vacuum', 'writers', 'everybody'] as const
export type LockMode = (typeof LOCK_MODES)[number]

export interface TableLock {
  /** As it is called before the plan; null: every table of Plinth's making. */
  readonly table: string | null
  readonly from: LockMode
}

/** A change. What it costs beyond nothing, a proviso says. */
export interface Step {
  readonly kind: 'step'
  readonly phase: Phase
  /** Of tables that are there; PostgreSQL takes these locks itself, but one after the other (lock-tables.ts). */
  readonly locks: readonly TableLock[]
  /** One line for a reader: `add column "rating" to "articles"`. */
  readonly summary: string
  readonly statements: readonly string[]
  /** Done only if this finds rows; null: always. */
  readonly onlyIf: RowCountQuery | null
  /** How it is done outside of any transaction without holding up writers; null: it is not. */
  readonly concurrentIndex: ConcurrentIndex | null
  /** Where it is another than the phase's (rollout-phase.ts). */
  readonly window?: RolloutPhase
  /** Of a step that expands: the statements while an older version is serving, where it leaves the rest for later. */
  readonly expands?: readonly string[]
}

/** An index. */
export interface ConcurrentIndex {
  /** Its name, with its schema's, as SQL writes them. */
  readonly index: string
  readonly make: string
  /** Takes away what is left where making it failed. */
  readonly undo: string
}

/** SQL that answers one row: `rows` (a count) and `values` (some of what was found, a JSON list of texts). */
export type RowCountQuery = string

/** Holds while its question finds no rows; else the whole plan is refused, or has its price. */
export interface Precondition {
  readonly kind: 'proviso'
  readonly code: RefusalCode
  readonly table: string
  readonly question: RowCountQuery
  /** `{rows}` stands for "1 row" or "5 rows", `{values}` for the values. */
  readonly message: string
  /** What it costs to go on all the same; absent: there is no way. */
  readonly price?: OverrideCost
}

/** What some steps cost where rows were found. */
export interface OverrideCost {
  readonly weight: Exclude<Risk, 'safe'>
  /** What writers wait for, or what is lost; `{rows}` as in messages. */
  readonly note: string
  readonly steps: readonly Step[]
}

export const REFUSAL_CODES = [
  'foreign-table',
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
  /** What came before it was done, and stands. */
  readonly partly?: true
}

/** Something that Plinth made, that the model no longer wants, and that stays where it is. */
export interface Leftover {
  readonly kind: 'left'
  readonly table: string
  /** null: the table itself. */
  readonly column: string | null
  /** How it goes, where that is asked for. */
  readonly drop: readonly Step[]
}

/** Whether who allows the one takes the other with it. */
export const permits = (allowed: Risk, weight: Risk): boolean =>
  RISKS.indexOf(weight) <= RISKS.indexOf(allowed)

/** In the order to do them in. */
export const sortByPhase = (steps: readonly Step[]): readonly Step[] =>
  PHASES.flatMap(phase => steps.filter(one => one.phase === phase))

/** One that writes rows: those that refer to them, and those that they refer to, are touched as well. */
export const step = (phase: Phase, summary: string, ...statements: readonly string[]): Step => ({
  kind: 'step',
  phase,
  locks: [{ table: null, from: 'writers' }],
  summary,
  statements,
  onlyIf: null,
  concurrentIndex: null,
})

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

/**
 * What a step means to a version of the project that serves while it is done. New things are not asked for by it, and
 * what lets go binds it less. What it relies on must not change its name or its meaning; new rules are for when it is gone.
 */
const BY_PHASE: Readonly<Record<Phase, RolloutPhase>> = {
  rename: 'stop',
  create: 'expand',
  loosen: 'expand',
  change: 'expand',
  values: 'stop',
  shift: 'stop',
  fill: 'contract',
  tighten: 'contract',
  release: 'contract',
  drop: 'contract',
}

export const rolloutPhaseOf = ({ phase, window }: Step): RolloutPhase => window ?? BY_PHASE[phase]

/** Whether an older version that is running goes on beside all of a step, and not only beside what `--expand` does of it. */
export const isBackwardCompatible = (step: Step): boolean =>
  rolloutPhaseOf(step) === 'expand' && (step.expands === undefined || sameList(step.expands, step.statements))

/** The part of the steps that the version which is running goes on beside. */
export const expandSteps = (steps: readonly Step[]): readonly Step[] =>
  steps
    .filter(step => rolloutPhaseOf(step) === 'expand')
    .map(step => (step.expands === undefined ? step : { ...step, statements: step.expands }))
