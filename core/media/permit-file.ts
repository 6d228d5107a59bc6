import type { Caller } from '../access/caller.ts'
import { permit } from '../access/restrict/permit.ts'
import { ok, type Result } from '../base/result.ts'
import type { Fault } from '../faults/fault.ts'
import type { Model } from '../model/model.ts'
import type { Actor, GivenValues, WriteConditions } from '../query/command.ts'
import { type FileInfo, readFileInfo } from './file-info.ts'

/** What a file has to meet, as it is and as it becomes, to be changed by a caller, and who that is. */
export type FileConditions = Pick<WriteConditions, 'before' | 'after' | 'sights'> & {
  readonly by: Actor | null
}

interface PermittedChange {
  /** With what the server sets. */
  readonly info: FileInfo
  readonly conditions: FileConditions
}

interface Asking {
  readonly caller: Caller
  readonly model: Model
}

/** `url`: the attribute that new bytes change, for `fields` of permissions. */
export function permitFileChange(
  info: FileInfo & { readonly url?: string },
  { caller, model }: Asking,
): Result<PermittedChange, Fault> {
  const type = model.builtIn.file
  const command = { kind: 'update', type, documentId: null, locale: null, status: 'published' } as const
  const permitted = permit({ ...command, precondition: null, values: { ...info } }, caller)
  if (!permitted.ok) return permitted
  const { conditions, by } = permitted.value
  const values: GivenValues = permitted.value.values
  const names = Object.keys(caller.grants.writeAccess(type, 'update')?.set ?? {})
  const set = readFileInfo(Object.fromEntries(names.map(name => [name, values[name]])))
  if (!set.ok) return set
  const { url: _, ...said } = info
  return ok({ info: { ...said, ...set.value }, conditions: { ...conditions, by } })
}

export function permitFileRemoval({ caller, model }: Asking): Result<FileConditions, Fault> {
  const type = model.builtIn.file
  const permitted = permit(
    { kind: 'delete', type, documentId: null, locale: null, precondition: null },
    caller,
  )
  if (!permitted.ok) return permitted
  const { conditions, by } = permitted.value
  return ok({ ...conditions, by })
}
