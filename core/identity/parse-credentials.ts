import { fitsPassword } from '../base/passwords.ts'
import { failed, ok, type Result } from '../base/result.ts'
import { parseScalar } from '../documents/values/parse-scalar.ts'
import { toRefusal } from '../documents/values/refusal.ts'
import { toFault, type ValueFault } from '../documents/values/value-fault.ts'
import { type Fault, printRejectedValue } from '../faults/fault.ts'
import type { ScalarAttribute } from '../model/model.ts'

/** A body of these endpoints: bare, without `data`. */
export type Body = Readonly<Record<string, unknown>>

/** A text that a body must have; with an attribute, one that would do as its value. */
export interface CredentialRule {
  readonly name: string
  readonly attribute?: ScalarAttribute
}

/** The texts by name; or everything that is wrong with them, in the order of the rules (contract/rest.md 2). */
export function parseCredentials<Name extends string>(
  body: Body,
  rules: readonly (CredentialRule & { readonly name: Name })[],
): Result<Readonly<Record<Name, string>>, Fault> {
  const faults = rules.flatMap(rule => checkCredential(body, rule))
  const refusal = toRefusal(faults)
  if (refusal) return failed(refusal)
  const texts = rules.map(({ name }) => [name, String(body[name])])
  return ok(Object.fromEntries(texts) as Record<Name, string>)
}

/** What is wrong with one of them. */
export function checkCredential(body: Body, { name, attribute }: CredentialRule): readonly ValueFault[] {
  const given = Object.hasOwn(body, name) ? body[name] : undefined
  if (given === undefined || given === null || given === '') return [missing(name, given)]
  if (typeof given !== 'string') return [mustBe('string', name, given)]
  if (attribute?.type === 'password' && !fitsPassword(given)) return [tooLong(name, given)]
  if (!attribute) return []
  const { faults } = parseScalar(attribute, given, { path: [name], strictness: 'full' })
  // What is no address is told as that alone, however short it is.
  return attribute.type === 'email' ? faults.slice(-1) : faults
}

/** Of something that the body lacks. */
export const missing = (name: string, given?: unknown): ValueFault =>
  toFault({ kind: 'rule', message: 'is a required field' }, [name], given)

export const mustBe = (kind: 'string' | 'object', name: string, given: unknown): ValueFault =>
  toFault(
    {
      kind: 'rule',
      message: `must be a \`${kind}\` type, but the final value was: \`${printRejectedValue(given)}\`.`,
    },
    [name],
    given,
  )

const tooLong = (name: string, given: string): ValueFault => ({
  kind: 'rule',
  path: [name],
  message: 'Password must be less than 73 bytes',
  value: given,
})
