import type { ContentType } from '../../model/model.ts'
import type { PermissionTerms } from '../../project/settings/settings.ts'
import { type Action, isRead, termsOf } from '../actions.ts'
import type { Grants } from '../caller.ts'
import { coveredNames } from '../compile/to-rules.ts'

/** Names of attributes, in the model's order; null where an action has no such side, empty where it is not granted. */
interface Attributes {
  /** Those that it answers. */
  readonly readable: readonly string[] | null
  /** Those that it takes. */
  readonly writable: readonly string[] | null
}

/** A permission as it was decided on: null where it is not granted. */
export interface Granted {
  readonly type: ContentType | null
  readonly action: Action
  readonly terms: PermissionTerms | null
}

export function attributesFor({ type, action, terms }: Granted, grants: Grants): Attributes {
  if (!type || !termsOf(action).fields) return { readable: null, writable: null }
  const readable = grants.view(type, action)?.readable
  const attributes = [...type.attributes.values()].filter(attribute => readable?.has(attribute))
  return {
    readable: attributes.map(({ name }) => name),
    writable: isRead(action) ? null : terms ? writableNames(type, terms) : [],
  }
}

function writableNames(type: ContentType, { fields, set = {} }: PermissionTerms): readonly string[] {
  const covered = fields ? coveredNames(fields, type) : [...type.attributes.keys()]
  return covered.filter(name => {
    const attribute = type.attributes.get(name)
    return attribute?.writable && !attribute.system && !Object.hasOwn(set, name)
  })
}
