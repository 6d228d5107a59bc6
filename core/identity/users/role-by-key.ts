import type { Caller } from '../../access/caller.ts'
import { restrict } from '../../access/restrict/restrict.ts'
import { didYouMean } from '../../base/nearest.ts'
import { failed, ok, type Result } from '../../base/result.ts'
import type { Documents } from '../../documents/documents.ts'
import { type Fault, fault } from '../../faults/fault.ts'
import type { ContentType } from '../../model/model.ts'
import type { GivenValues } from '../../query/command.ts'
import { isRecord } from '../../query/parse-place.ts'
import { ALL_ROWS, scalarOf } from './user-values.ts'

interface Asking {
  readonly caller: Caller
  /** The content-type of roles. */
  readonly type: ContentType
  readonly documents: Pick<Documents, 'findMany'>
}

/**
 * A user's values, in which a role may be named by its key (`editor`) wherever its id may stand. Refuses (400) a text
 * that is neither a key nor a documentId of a role that the caller may find.
 */
export async function withRoleByKey(
  values: GivenValues,
  asking: Asking,
): Promise<Result<GivenValues, Fault>> {
  const texts = textsIn(values.role)
  if (texts.length === 0) return ok(values)
  const roles = await visibleRoles(asking)
  // Without a permission to find roles, `permit` refuses the attribute.
  if (roles === null) return ok(values)
  const documentIds = new Set(roles.values())
  const unknown = texts.find(text => !roles.has(text) && !documentIds.has(text))
  if (unknown !== undefined) return failed(unknownRole(unknown, [...roles.keys()]))
  return ok({ ...values, role: replaced(values.role, text => roles.get(text) ?? text) })
}

const LISTS = ['connect', 'disconnect', 'set'] as const

/** The texts that name roles: alone, in a list, or in `connect`, `disconnect` and `set`. */
function textsIn(given: unknown): readonly string[] {
  if (typeof given === 'string') return isNumber(given) ? [] : [given]
  if (Array.isArray(given)) return given.filter(each => typeof each === 'string' && !isNumber(each))
  return isRecord(given) ? LISTS.flatMap(key => textsIn(given[key])) : []
}

/** Of digits or nothing: no key of a role. */
const isNumber = (text: string): boolean => /^\d*$/.test(text)

function replaced(given: unknown, to: (text: string) => string): unknown {
  if (typeof given === 'string') return to(given)
  if (Array.isArray(given)) return given.map(each => (typeof each === 'string' ? to(each) : each))
  if (!isRecord(given)) return given
  return Object.fromEntries(
    Object.entries(given).map(([key, value]) => [
      key,
      LISTS.some(list => list === key) ? replaced(value, to) : value,
    ]),
  )
}

/** documentIds by keys; null: the caller may not find roles. */
async function visibleRoles({
  caller,
  type,
  documents,
}: Asking): Promise<ReadonlyMap<string, string> | null> {
  const restricted = restrict(
    {
      ...ALL_ROWS,
      type,
      take: { kind: 'many', page: { start: 0, limit: MOST }, total: false },
      selection: {
        fields: [scalarOf(type, 'type'), scalarOf(type, 'documentId')],
        named: false,
        populate: [],
      },
    },
    caller,
    'find',
  )
  if (!restricted.ok) return null
  const rows: readonly { readonly type?: unknown; readonly documentId?: unknown }[] = JSON.parse(
    (await documents.findMany(restricted.value, 'flat')).text,
  )
  const named = rows.filter(({ type: key }) => typeof key === 'string')
  return new Map(named.map(({ type: key, documentId }) => [String(key), String(documentId)]))
}

/** More roles than any project has. */
const MOST = 10_000

function unknownRole(text: string, keys: readonly string[]): Fault {
  const near = didYouMean(text, keys)
  const message = `Unknown role \`${text}\`${near || `: expected one of ${keys.join(', ')}`}`
  return fault('validation', message, { key: 'role', path: 'role', expected: 'the key or the id of a role' })
}
