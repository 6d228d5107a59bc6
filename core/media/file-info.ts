import type { Caller } from '../access/caller.ts'
import { permit } from '../access/restrict/permit.ts'
import { parseJsonText } from '../base/text.ts'
import { fault, RequestFault } from '../faults/fault.ts'
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

/** Parses `fileInfo` of a form (reference/rest.md#15-upload): one JSON object, several, or a list. Throws a RequestFault. */
export function parseFileInfo(texts: readonly string[]): readonly FileInfo[] {
  const infos: FileInfo[] = []
  for (const text of texts) {
    const parsed = parseJsonText(text)
    if (Array.isArray(parsed) && parsed.length === 0) throw invalid('fileInfo', 'a JSON object')
    infos.push(...(Array.isArray(parsed) ? parsed : [parsed]).map(readFileInfo))
  }
  return infos
}

/** Unused keys, such as `folder`, are ignored. Throws a RequestFault for an invalid value. */
export function readFileInfo(raw: unknown): FileInfo {
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw))
    throw invalid('fileInfo', 'a JSON object')
  const input = new Map(Object.entries(raw))
  // Forms send an empty field for an unset name.
  const rawName: unknown = input.get('name') ?? ''
  const name = rawName === '' ? undefined : rawName
  if (name !== undefined && !isName(name)) throw invalid('fileInfo.name', 'a text of 1 to 255 characters')
  const focalPoint = input.get('focalPoint')
  if (!isFocalPoint(focalPoint)) throw invalid('fileInfo.focalPoint', 'x and y from 0 to 100, or null')
  const texts: { [key: string]: string | null } = {}
  for (const key of ['alternativeText', 'caption']) {
    const text: unknown = input.get(key)
    if (text === undefined) continue
    if (text !== null && !isText(text)) throw invalid(`fileInfo.${key}`, 'a text or null')
    texts[key] = text
  }
  const point =
    focalPoint === undefined
      ? {}
      : { focalPoint: focalPoint && JSON.stringify({ x: focalPoint.x, y: focalPoint.y }) }
  return { ...(name === undefined ? {} : { name }), ...texts, ...point }
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

const invalid = (key: string, expected: string): RequestFault =>
  new RequestFault(fault('validation', `Invalid ${key}: expected ${expected}`, { key, expected }))

/** Conditions on a file before and after a change by a caller, and that caller. */
export type FileConditions = Pick<WriteConditions, 'before' | 'after' | 'visible'> & {
  readonly by: Actor | null
}

interface PermittedChange {
  /** Including the values that the role's permission sets. */
  readonly info: FileInfo
  readonly conditions: FileConditions
}

interface FilePermissionOptions {
  readonly caller: Caller
  readonly model: Model
}

/** `url` represents new bytes: it is checked against `fields` of the permission. */
export function permitFileChange(
  info: FileInfo & { readonly url?: string },
  { caller, model }: FilePermissionOptions,
): PermittedChange {
  const type = model.builtIn.file
  const command = { kind: 'update', type, documentId: null, locale: null, status: 'published' } as const
  const permitted = permit({ ...command, precondition: null, values: { ...info } }, caller)
  const values: GivenValues = permitted.values
  const names = Object.keys(caller.grants.writeAccess(type, 'update')?.set ?? {})
  const set = readFileInfo(Object.fromEntries(names.map(name => [name, values[name]])))
  const { url: _, ...input } = info
  return { info: { ...input, ...set }, conditions: { ...permitted.conditions, by: permitted.by } }
}

export function permitFileRemoval({ caller, model }: FilePermissionOptions): FileConditions {
  const type = model.builtIn.file
  const command = { kind: 'delete', type, documentId: null, locale: null, precondition: null } as const
  const { conditions, by } = permit(command, caller)
  return { ...conditions, by }
}
