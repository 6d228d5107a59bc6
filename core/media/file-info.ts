import type { Caller } from '../access/caller.ts'
import { permit } from '../access/restrict/permit.ts'
import { failed, ok, type Result } from '../base/result.ts'
import { type Fault, fault } from '../faults/fault.ts'
import type { Model } from '../model/model.ts'
import type { Actor, GivenValues, WriteConditions } from '../query/command.ts'

/** Description of a file given by a caller; undefined: unchanged. */
export interface FileInfo {
  readonly name?: string
  readonly alternativeText?: string | null
  readonly caption?: string | null
  /** JSON text. */
  readonly focalPoint?: string | null
}

/** Parses `fileInfo` of a form (reference/rest.md#15-upload): one JSON object, several, or a list. */
export function parseFileInfo(texts: readonly string[]): Result<readonly FileInfo[], Fault> {
  const infos: FileInfo[] = []
  for (const text of texts) {
    const parsed = parseJson(text)
    if (Array.isArray(parsed) && parsed.length === 0) return refuse('fileInfo', 'a JSON object')
    for (const raw of Array.isArray(parsed) ? parsed : [parsed]) {
      const info = readFileInfo(raw)
      if (!info.ok) return info
      infos.push(info.value)
    }
  }
  return ok(infos)
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

/** Unused keys, such as `folder`, are ignored. */
export function readFileInfo(raw: unknown): Result<FileInfo, Fault> {
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw))
    return refuse('fileInfo', 'a JSON object')
  const given = new Map(Object.entries(raw))
  // Forms send an empty field for an unset name.
  const rawName: unknown = given.get('name') ?? ''
  const name = rawName === '' ? undefined : rawName
  if (name !== undefined && !isName(name)) return refuse('fileInfo.name', 'a text of 1 to 255 characters')
  const focalPoint = given.get('focalPoint')
  if (!isFocalPoint(focalPoint)) return refuse('fileInfo.focalPoint', 'x and y from 0 to 100, or null')
  const texts: { [key: string]: string | null } = {}
  for (const key of ['alternativeText', 'caption']) {
    const text: unknown = given.get(key)
    if (text === undefined) continue
    if (text !== null && !isText(text)) return refuse(`fileInfo.${key}`, 'a text or null')
    texts[key] = text
  }
  const point =
    focalPoint === undefined
      ? {}
      : { focalPoint: focalPoint && JSON.stringify({ x: focalPoint.x, y: focalPoint.y }) }
  return ok({ ...(name === undefined ? {} : { name }), ...texts, ...point })
}

/** PostgreSQL text cannot hold NUL. */
const isText = (value: unknown): value is string => typeof value === 'string' && !value.includes('\0')

const isName = (value: unknown): value is string =>
  isText(value) && value.trim() !== '' && value.length <= 255

function isFocalPoint(value: unknown): value is { x: number; y: number } | null | undefined {
  if (value === null || value === undefined) return true
  return typeof value === 'object' && 'x' in value && 'y' in value && isPercent(value.x) && isPercent(value.y)
}

const isPercent = (value: unknown): boolean => typeof value === 'number' && value >= 0 && value <= 100

const refuse = (key: string, expected: string) =>
  failed(fault('validation', `Invalid ${key}: expected ${expected}`, { key, expected }))

/** Conditions on a file before and after a change by a caller, and that caller. */
export type FileConditions = Pick<WriteConditions, 'before' | 'after' | 'sights'> & {
  readonly by: Actor | null
}

interface PermittedChange {
  /** Including the values that the role's permission sets. */
  readonly info: FileInfo
  readonly conditions: FileConditions
}

interface FilePermissionTerms {
  readonly caller: Caller
  readonly model: Model
}

/** `url` represents new bytes: it is checked against `fields` of the permission. */
export function permitFileChange(
  info: FileInfo & { readonly url?: string },
  { caller, model }: FilePermissionTerms,
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
  const { url: _, ...given } = info
  return ok({ info: { ...given, ...set.value }, conditions: { ...conditions, by } })
}

export function permitFileRemoval({ caller, model }: FilePermissionTerms): Result<FileConditions, Fault> {
  const type = model.builtIn.file
  const permitted = permit(
    { kind: 'delete', type, documentId: null, locale: null, precondition: null },
    caller,
  )
  if (!permitted.ok) return permitted
  const { conditions, by } = permitted.value
  return ok({ ...conditions, by })
}
