import { isObject, type Json, type JsonObject } from './case.ts'

// The comparison of run.mjs, for answers that were read another way. What differs from run to run gets a name.
const DOCUMENT_ID = /^[a-z][a-z0-9]{23}$/
const STAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const HOUR = 3_600_000

export type Names = ReadonlyMap<string, string>
export type Verdict = 'same' | 'words' | 'differs'

export interface Seen {
  readonly status: number
  readonly headers?: JsonObject
  readonly body: Json
}

export function normalise(value: Json, names: Names, key = ''): Json {
  if (typeof value === 'string') return normaliseText(value, names, key)
  if (typeof value === 'number') return key === 'id' ? '<id>' : value
  if (Array.isArray(value)) return value.map(item => normalise(item, names, key))
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, child]) => [name, normalise(child, names, name)]),
  )
}

function normaliseText(text: string, names: Names, key: string): string {
  const name = names.get(text)
  if (name) return name
  if (STAMP.test(text) && /At$/.test(key) && isRecent(text)) return '<stamp>'
  if (DOCUMENT_ID.test(text) && /ocumentId$|^id$/.test(key)) return '<documentId>'
  if (key === 'id' && /^\d+$/.test(text)) return '<id>'
  const unhashed = key === 'url' || key === 'hash' ? text.replace(/_[0-9a-f]{10}/g, '_<hash>') : text
  return [...names]
    .filter(([value, named]) => value.length > 8 || named === '<run>')
    .reduce((result, [value, named]) => result.split(value).join(named), unhashed)
}

/** A stamp of the server's own, not one that the case wrote. */
const isRecent = (stamp: string): boolean => Math.abs(Date.now() - Date.parse(stamp)) < HOUR

export function judge(want: Seen, seen: Seen, how: 'exact' | 'status' | 'shape' = 'exact'): Verdict {
  if (isSame(want, seen, how)) return 'same'
  const isError = isObject(want.body) && ('error' in want.body || 'errors' in want.body)
  const agrees = want.status === seen.status && text(wordless(want.body)) === text(wordless(seen.body))
  return isError && agrees ? 'words' : 'differs'
}

function isSame(want: Seen, seen: Seen, how: 'exact' | 'status' | 'shape'): boolean {
  if (want.status !== seen.status) return false
  if (how === 'status') return true
  if (how === 'shape') return text(shape(want.body)) === text(shape(seen.body))
  return text(want.headers) === text(seen.headers) && text(want.body) === text(seen.body)
}

const text = (value: Json | undefined): string => JSON.stringify(value) ?? ''

function shape(value: Json): Json {
  if (Array.isArray(value)) return value.slice(0, 1).map(shape)
  if (value === null) return null
  if (!isObject(value)) return typeof value
  return Object.fromEntries(Object.entries(value).map(([key, child]) => [key, shape(child)]))
}

const WORDS = ['message', 'details', 'locations', 'path']

function wordless(value: Json): Json {
  if (Array.isArray(value)) return value.map(wordless)
  if (!isObject(value)) return value
  const kept = Object.entries(value).filter(([key]) => !WORDS.includes(key))
  return Object.fromEntries(kept.map(([key, child]) => [key, wordless(child)]))
}
