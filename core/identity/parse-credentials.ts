import { fitsPassword } from '../base/passwords.ts'
import { parseScalar } from '../documents/values/parse-scalar.ts'
import {
  secretOfWrongType,
  toFault,
  toRefusal,
  toSecretFault,
  type ValueFault,
} from '../documents/values/value-fault.ts'
import { printRejectedValue, RequestFault } from '../faults/fault.ts'
import type { ScalarAttribute } from '../model/model.ts'

/** Body of an auth or users endpoint, without a `data` wrapper. */
export type AuthBody = Readonly<Record<string, unknown>>

/** A required string of a body. With an attribute, it must be a valid value of it. */
export interface CredentialRule {
  readonly name: string
  readonly attribute?: ScalarAttribute
  /** A password: faults do not repeat it. */
  readonly isSecret?: boolean
}

/** The strings by name. Throws a RequestFault with all faults in the order of the rules (reference/rest.md#2-errors). */
export function parseCredentials<Name extends string>(
  body: AuthBody,
  rules: readonly (CredentialRule & { readonly name: Name })[],
): Readonly<Record<Name, string>> {
  const faults = rules.flatMap(rule => checkCredential(body, rule))
  const refusal = toRefusal(faults)
  if (refusal) throw new RequestFault(refusal)
  const texts = rules.map(({ name }) => [name, String(body[name])])
  return Object.fromEntries(texts) as Record<Name, string>
}

/** The faults of one string. */
export function checkCredential(
  body: AuthBody,
  { name, attribute, isSecret = attribute?.type === 'password' }: CredentialRule,
): readonly ValueFault[] {
  const input = Object.hasOwn(body, name) ? body[name] : undefined
  if (input === undefined || input === null || input === '') return [missingFault(name, input)]
  if (typeof input !== 'string')
    return [isSecret ? toSecretFault(secretOfWrongType, [name]) : typeFault('string', name, input)]
  if (attribute?.type === 'password' && !fitsPassword(input)) return [passwordTooLong(name)]
  if (!attribute) return []
  const { faults } = parseScalar(attribute, input, { path: [name], strictness: 'full' })
  // An invalid address is reported for its format only, not for its length.
  return attribute.type === 'email' ? faults.slice(-1) : faults
}

/** Fault of an absent key. */
export const missingFault = (name: string, input?: unknown): ValueFault =>
  toFault({ kind: 'rule', message: 'is a required field' }, [name], input)

export const typeFault = (kind: 'string' | 'object', name: string, input: unknown): ValueFault =>
  toFault(
    {
      kind: 'rule',
      message: `must be a \`${kind}\` type, but the final value was: \`${printRejectedValue(input)}\`.`,
    },
    [name],
    input,
  )

const passwordTooLong = (name: string): ValueFault => ({
  kind: 'rule',
  path: [name],
  message: 'Password must be less than 73 bytes',
})
