import type { Caller } from '../../access/caller.ts'
import { restrict } from '../../access/restrict/restrict.ts'
import { didYouMean } from '../../base/nearest.ts'
import type { Documents } from '../../documents/documents.ts'
import { fault, RequestFault } from '../../faults/fault.ts'
import type { ContentType } from '../../model/model.ts'
import type { GivenValues } from '../../query/command.ts'
import { isRecord } from '../../query/parse-place.ts'
import { ALL_ROWS, requireScalar } from './user-values.ts'

interface RoleLookup {
  readonly caller: Caller
  /** The content-type of roles. */
  readonly type: ContentType
  readonly documents: Pick<Documents, 'findMany'>
}

/**
 * Replaces keys of roles (`editor`) by documentIds in a user's values. Refuses (400) strings that are neither the key nor
 * the documentId of a role that the caller may find.
 */
export async function withRoleByKey(values: GivenValues, lookup: RoleLookup): Promise<GivenValues> {
  const texts = roleTexts(values.role)
  if (texts.length === 0) return values
  const roles = await visibleRoles(lookup)
  // Without a permission to find roles, `permit` refuses the attribute.
  if (roles === null) return values
  const documentIds = new Set(roles.values())
  const unknown = texts.find(text => !roles.has(text) && !documentIds.has(text))
  if (unknown !== undefined) throw unknownRole(unknown, [...roles.keys()])
  return { ...values, role: replaceTexts(values.role, text => roles.get(text) ?? text) }
}

const RELATION_KEYS = ['connect', 'disconnect', 'set'] as const

/** Strings that refer to roles: single, in a list, or in `connect`, `disconnect` and `set`. */
function roleTexts(given: unknown): readonly string[] {
  if (typeof given === 'string') return isNumeric(given) ? [] : [given]
  if (Array.isArray(given)) return given.filter(each => typeof each === 'string' && !isNumeric(each))
  return isRecord(given) ? RELATION_KEYS.flatMap(key => roleTexts(given[key])) : []
}

/** Digits or empty: never the key of a role. */
const isNumeric = (text: string): boolean => /^\d*$/.test(text)

function replaceTexts(given: unknown, to: (text: string) => string): unknown {
  if (typeof given === 'string') return to(given)
  if (Array.isArray(given)) return given.map(each => (typeof each === 'string' ? to(each) : each))
  if (!isRecord(given)) return given
  return Object.fromEntries(
    Object.entries(given).map(([key, value]) => [
      key,
      RELATION_KEYS.some(list => list === key) ? replaceTexts(value, to) : value,
    ]),
  )
}

/** documentIds by key; null: the caller may not find roles. */
async function visibleRoles({
  caller,
  type,
  documents,
}: RoleLookup): Promise<ReadonlyMap<string, string> | null> {
  if (!caller.grants.readAccess(type, 'find')) return null
  const restricted = restrict(
    {
      ...ALL_ROWS,
      type,
      take: { kind: 'many', page: { start: 0, limit: MAX_ROLES }, total: false },
      selection: {
        fields: [requireScalar(type, 'type'), requireScalar(type, 'documentId')],
        named: false,
        populate: [],
      },
    },
    caller,
    'find',
  )
  const rows: readonly { readonly type?: unknown; readonly documentId?: unknown }[] = JSON.parse(
    (await documents.findMany(restricted, 'flat')).text,
  )
  const named = rows.filter(({ type: key }) => typeof key === 'string')
  return new Map(named.map(({ type: key, documentId }) => [String(key), String(documentId)]))
}

/** Far above the number of roles in any project. */
const MAX_ROLES = 10_000

function unknownRole(text: string, keys: readonly string[]): RequestFault {
  const near = didYouMean(text, keys)
  const message = `Unknown role \`${text}\`${near || `: expected one of ${keys.join(', ')}`}`
  const details = { key: 'role', path: 'role', expected: 'the key or the id of a role' }
  return new RequestFault(fault('validation', message, details))
}
