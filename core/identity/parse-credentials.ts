import { fitsPassword } from '../base/passwords.ts'
import { parseScalar } from '../documents/values/parse-scalar.ts'
import { toFault, toRefusal, type ValueFault } from '../documents/values/value-fault.ts'
import { printRejectedValue, RequestFault } from '../faults/fault.ts'
import type { ScalarAttribute } from '../model/model.ts'

/** Body of an auth or users endpoint, without a `data` wrapper. */
export type AuthBody = Readonly<Record<string, unknown>>

/** A required string of a body. With an attribute, it must be a valid value of it. */
export interface CredentialRule {
  readonly name: string
  readonly attribute?: ScalarAttribute
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
export function checkCredential(body: AuthBody, { name, attribute }: CredentialRule): readonly ValueFault[] {
  const given = Object.hasOwn(body, name) ? body[name] : undefined
  if (given === undefined || given === null || given === '') return [missingFault(name, given)]
  if (typeof given !== 'string') return [typeFault('string', name, given)]
  if (attribute?.type === 'password' && !fitsPassword(given)) return [passwordTooLong(name, given)]
  if (!attribute) return []
  const { faults } = parseScalar(attribute, given, { path: [name], strictness: 'full' })
  // An invalid address is reported for its format only, not for its length.
  return attribute.type === 'email' ? faults.slice(-1) : faults
}

/** Fault of an absent key. */
export const missingFault = (name: string, given?: unknown): ValueFault =>
  toFault({ kind: 'rule', message: 'is a required field' }, [name], given)

export const typeFault = (kind: 'string' | 'object', name: string, given: unknown): ValueFault =>
  toFault(
    {
      kind: 'rule',
      message: `must be a \`${kind}\` type, but the final value was: \`${printRejectedValue(given)}\`.`,
    },
    [name],
    given,
  )

const passwordTooLong = (name: string, given: string): ValueFault => ({
  kind: 'rule',
  path: [name],
  message: 'Password must be less than 73 bytes',
  value: given,
})
