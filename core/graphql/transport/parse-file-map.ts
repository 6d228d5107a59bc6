import { failed, ok, type Result } from '../../base/result.ts'
import { type Fault, fault } from '../../faults/fault.ts'
import { parseJson } from '../../query/parse-json.ts'
import { isRecord } from '../../query/parse-place.ts'

/** Where files go: by the name of a file's part, paths into the operations such as `variables`, `files`, `0`. */
export type FileMap = ReadonlyMap<string, readonly (readonly string[])[]>

/** As many as a form may have files: each place becomes one. */
const MOST = 100

/** `map` of the GraphQL multipart request specification: paths lead into variables, and nowhere else. */
export function parseFileMap(text: string): Result<FileMap, Fault> {
  const given = parseJson(text)
  if (!given.ok) return failed(malformed('Invalid JSON in the ‘map’ multipart field'))
  if (!isRecord(given.value)) return failed(malformed('Invalid type for the ‘map’ multipart field'))
  const map = new Map<string, readonly (readonly string[])[]>()
  let places = 0
  for (const [field, texts] of Object.entries(given.value)) {
    const paths = parsePaths(field, texts)
    if (!paths.ok) return paths
    map.set(field, paths.value)
    places += paths.value.length
  }
  if (places > MOST) return failed(fault('payloadTooLarge', `A request may have at most ${MOST} files`))
  return ok(map)
}

function parsePaths(field: string, texts: unknown): Result<readonly (readonly string[])[], Fault> {
  if (!Array.isArray(texts))
    return failed(malformed(`Invalid type for the ‘map’ multipart field entry key ‘${shorten(field)}’ array`))
  const wrong: unknown = texts.find(text => !isPath(text))
  if (wrong !== undefined) return failed(noPath(wrong))
  return ok(texts.map(text => String(text).split('.')))
}

const isPath = (text: unknown): boolean =>
  typeof text === 'string' && PATH.test(text) && !text.split('.').some(step => RESERVED.has(step))

/** Of a batch, an operation's number comes first. */
const PATH = /^(?:\d{1,6}\.)?variables(?:\.[^.]+)+$/

const RESERVED: ReadonlySet<string> = new Set(['__proto__', 'prototype', 'constructor'])

/** A path that leads to no place for a file. */
export const noPath = (path: unknown): Fault =>
  malformed(`Invalid object path for the ‘map’ multipart field: ‘${shorten(String(path))}’`)

const shorten = (text: string): string => text.slice(0, 100)

export const malformed = (message: string): Fault =>
  fault('badRequest', `${message} (https://github.com/jaydenseric/graphql-multipart-request-spec).`)
