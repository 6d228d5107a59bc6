import type { Phase, Step, Window } from './finding.ts'
import { sameList } from './literals.ts'

/**
 * What a step means to a version of the project that serves while it is done. New things are not asked for by it, and
 * what lets go binds it less. What it relies on must not change its name or its meaning; new rules are for when it is gone.
 */
const BY_PHASE: Readonly<Record<Phase, Window>> = {
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

export const windowOf = ({ phase, window }: Step): Window => window ?? BY_PHASE[phase]

/** Whether an older version that is running goes on beside all of a step, and not only beside what `--expand` does of it. */
export const isUnnoticed = (step: Step): boolean =>
  windowOf(step) === 'expand' && (step.expands === undefined || sameList(step.expands, step.statements))

/** The part of the steps that the version which is running goes on beside. */
export const expanding = (steps: readonly Step[]): readonly Step[] =>
  steps
    .filter(step => windowOf(step) === 'expand')
    .map(step => (step.expands === undefined ? step : { ...step, statements: step.expands }))
