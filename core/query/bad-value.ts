import { type Failed, failed } from '../base/result.ts'

/** Why a value is none of its attribute's type. */
export interface BadValue {
  /** What would have been one: `an integer`. */
  readonly expected: string
  /** The whole sentence, where the contract has its own (contract/rest.md 3). */
  readonly message: string | null
}

export const badValue = (expected: string, message: string | null = null): Failed<BadValue> =>
  failed({ expected, message })
