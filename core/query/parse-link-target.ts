import { failed, ok, type Result } from '../base/result.ts'
import type { ContentType } from '../model/model.ts'
import type { Connection, Position, TargetRef } from './command.ts'
import { type LinkFault, NO_ENTRY } from './link-fault.ts'
import { isRecord } from './parse-place.ts'
import { STATUSES } from './query.ts'

/** One entry or a list of them, shorthand or longhand; null counts for none. */
export const parseTargets = (raw: unknown, target: ContentType): Result<readonly TargetRef[], LinkFault> =>
  parseEntries(raw, entry => parseTarget(entry, target))

/** As targets, with a place in the list. */
export const parseConnections = (
  raw: unknown,
  target: ContentType,
): Result<readonly Connection[], LinkFault> =>
  parseEntries(raw, entry => {
    const parsed = parseTarget(entry, target)
    if (!parsed.ok) return parsed
    return ok({ ...parsed.value, position: parsePosition(isRecord(entry) ? entry.position : undefined) })
  })

function parseEntries<Entry>(
  raw: unknown,
  parse: (entry: unknown) => Result<Entry, LinkFault>,
): Result<readonly Entry[], LinkFault> {
  const entries: Entry[] = []
  for (const entry of Array.isArray(raw) ? raw : [raw]) {
    if (entry === null) continue
    const parsed = parse(entry)
    if (!parsed.ok) return parsed
    entries.push(parsed.value)
  }
  return ok(entries)
}

/** Keys of longhand that mean nothing here are ignored: clients send back what they were answered. */
function parseTarget(entry: unknown, target: ContentType): Result<TargetRef, LinkFault> {
  if (!isRecord(entry)) {
    const by = toId(entry) ?? toDocumentId(entry)
    return by ? ok({ by, locale: null, status: null }) : failed(NO_ENTRY)
  }
  const by = toDocumentId(entry.documentId) ?? toId(entry.id)
  if (!by) return failed(NO_ENTRY)
  const locale = target.localized ? (entry.locale ?? null) : null
  if (locale !== null && !isWord(locale)) return failed(badWord('locale', 'the code of a locale'))
  const given = target.draftAndPublish ? (entry.status ?? null) : null
  const status = STATUSES.find(word => word === given) ?? null
  if (status !== given) return failed(badWord('status', STATUSES.join(' or ')))
  return ok({ by, locale, status })
}

const toDocumentId = (raw: unknown): TargetRef['by'] | null => (isWord(raw) ? { documentId: raw } : null)

/** PostgreSQL takes no NUL; no document has one in its id. */
const isWord = (raw: unknown): raw is string => typeof raw === 'string' && raw !== '' && !raw.includes('\0')

/** Numbers and texts of digits alone. */
function toId(raw: unknown): TargetRef['by'] | null {
  const id = typeof raw === 'string' && /^\d+$/.test(raw) ? Number(raw) : raw
  return typeof id === 'number' && Number.isSafeInteger(id) ? { id } : null
}

const badWord = (key: string, expected: string): LinkFault => ({
  kind: 'format',
  path: [],
  message: `Invalid value for ${key} of a relation: expected ${expected}`,
})

const END: Position = { at: 'end' }

/** before and after win over start and end; what says nothing of these is the end (contract/rest.md 9). */
function parsePosition(raw: unknown): Position {
  if (!isRecord(raw)) return END
  for (const at of ['before', 'after'] as const) {
    const word = raw[at]
    if (typeof word === 'number' || isWord(word)) return { at, documentId: String(word) }
  }
  return raw.start === true ? { at: 'start' } : END
}
