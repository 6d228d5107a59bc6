import { failed, ok, type Result } from '../base/result.ts'
import { type Fault, fault } from '../faults/fault.ts'

/** What a caller says of a file; undefined leaves it as it is. */
export interface FileInfo {
  readonly name?: string
  readonly alternativeText?: string | null
  readonly caption?: string | null
  /** JSON text. */
  readonly focalPoint?: string | null
}

/** `fileInfo` of a form (contract/rest.md 15): one JSON object, several, or a list of them. */
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

/** Keys that Plinth has no use for, such as a folder, are passed over. */
export function readFileInfo(raw: unknown): Result<FileInfo, Fault> {
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw))
    return refuse('fileInfo', 'a JSON object')
  const given = new Map(Object.entries(raw))
  // An empty field of a form names nothing.
  const said: unknown = given.get('name') ?? ''
  const name = said === '' ? undefined : said
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

/** PostgreSQL takes no NUL. */
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
