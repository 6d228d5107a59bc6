import type { Caller } from '../../access/caller.ts'
import { failed, type Result } from '../../base/result.ts'
import { toRefusal } from '../../documents/values/refusal.ts'
import { type Fault, fault, invalidBodyKey } from '../../faults/fault.ts'
import type { ContentType } from '../../model/model.ts'
import type { GivenValues } from '../../query/command.ts'
import { parseGivenValues } from '../../query/parse-given-values.ts'
import { type Body, checkCredential, missing, mustBe } from '../parse-credentials.ts'
import { scalarOf } from './user-values.ts'

/** What a new user has to have, unless the server sets it. */
export function checkNew(body: Body, { grants }: Caller, user: ContentType): Fault | undefined {
  const set = grants.writeAccess(user, 'create')?.set ?? {}
  const isAsked = (name: string): boolean => !Object.hasOwn(set, name)
  const rules = [
    { name: 'email', attribute: scalarOf(user, 'email') },
    { name: 'username' },
    { name: 'password' },
  ].filter(({ name }) => isAsked(name))
  const role = isAsked('role') && (body.role === undefined || body.role === null) ? [missing('role')] : []
  return toRefusal([...rules.flatMap(rule => checkCredential(body, rule)), ...role])
}

/** What is given has to do. A user without a password or a role is not made by the way: leave the key out, or name another. */
export function checkChange(body: Body, user: ContentType): Fault | undefined {
  if (body.password === '') return fault('validation', 'password.notNull')
  const email = Object.hasOwn(body, 'email')
    ? checkCredential(body, { name: 'email', attribute: scalarOf(user, 'email') })
    : []
  return toRefusal([
    ...email,
    ...(body.password === null ? [mustBe('string', 'password', null)] : []),
    ...(body.role === null ? [mustBe('object', 'role', null)] : []),
  ])
}

/** Hashes of what was mailed: not even who may write users chooses them (safety S6). */
const OWN: readonly string[] = ['resetPasswordToken', 'confirmationToken']

export function toUserValues(body: Body, user: ContentType): Result<GivenValues, Fault> {
  const own = OWN.find(key => Object.hasOwn(body, key))
  if (own !== undefined) return failed(invalidBodyKey(own, own))
  return parseGivenValues(user, body)
}
