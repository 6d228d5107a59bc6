import { BoundedMap } from '../base/bounded-map.ts'
import type { TextOperation } from './text-operation.ts'

/** What follows from an operation and its variables alone, whoever asks. */
export interface ReadyOperation {
  /** Coerced. */
  readonly variables: Readonly<Record<string, unknown>>
  readonly cost: number
  readonly introspection: number
  /** null: it is answered field by field. */
  readonly text: TextOperation | null
}

/** By document, operation and variables: what is asked again is not judged again. */
export type ReadyOperations = Pick<BoundedMap<Kept>, 'get' | 'set'>

interface Kept extends ReadyOperation {
  readonly size: number
}

const BOUNDS = { entries: 2000, characters: 16_000_000 } as const

/** Queries, and what of them is kept beside their texts, are some thirty times these. */
const GROWTH = 30

export function openReadyOperations(cache: unknown): ReadyOperations {
  if (cache === false) return { get: () => undefined, set: () => {} }
  return new BoundedMap<Kept>(BOUNDS, ({ size }) => size)
}

/** Longer variables are hardly sent twice. */
const LONGEST = 1000

/** null: not to be kept. */
export function readyKey(
  text: string,
  operationName: string | null,
  variables: Readonly<Record<string, unknown>>,
): string | null {
  const given = JSON.stringify(variables)
  return given.length > LONGEST ? null : `${given}${JSON.stringify(operationName)}${text}`
}

export const keep = (ready: ReadyOperation, key: string): Kept => ({ ...ready, size: key.length * GROWTH })
