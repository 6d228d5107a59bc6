import type { Model } from '../../model/model.ts'
import { BUILT_IN_ACTIONS } from '../actions.ts'
import type { Grants } from '../caller.ts'
import { toGrants } from '../grants.ts'
import { EVERY, toCells } from '../permission-entries.ts'
import { toRules } from './to-rules.ts'

/** All that anybody may do: what a full-access token may. */
export function everyGrant(model: Model): Grants {
  const subjects = [EVERY, ...Object.keys(BUILT_IN_ACTIONS)]
  const permissions = Object.fromEntries(subjects.map(subject => [subject, { [EVERY]: true }]))
  return toGrants('everything', () => toRules(toCells(permissions, []), model))
}
