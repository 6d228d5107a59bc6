import { type Alias, quoteText } from './identifier.ts'
import type { AnswerStatement } from './nodes.ts'
import { printBody, printContext, printSelectNode } from './print.ts'
import type { Template } from './statement.ts'

/** A statement that also returns the version of its tables, for later validation of the cached answer. */
export interface VersionedTemplate extends Template {
  /** The statement without versions, with the same parameters. */
  readonly uncachedText: string
  /** SQL of the version of all tables that the statement reads, as text. Equal versions mean equal answers. */
  readonly version: string
  /** The statement of the total alone; null: no total. */
  readonly total: Template | null
}

/**
 * Prints one statement that returns one row, all from one snapshot: the JSON text or null, and the version of its
 * tables; with a total also the version of the total's tables, and the total, or null if the last parameter, which has
 * no node, equals that version.
 */
export function printVersioned(answer: AnswerStatement): VersionedTemplate {
  const found = printContext(answer.maxBytes)
  const body = printBody(answer, found)
  if (!answer.total) {
    const version = printVersion(new Set(found.tables))
    const text = `SELECT (${body}), (${version})`
    return { text, uncachedText: body, parameters: found.parameters, version, total: null }
  }
  const alone = printContext()
  const total = { text: printSelectNode(answer.total, alone), parameters: alone.parameters }
  const counted = printSelectNode(answer.total, found)
  const known = `$${found.parameters.length + 1}::text`
  const version = printVersion(new Set(found.tables))
  const versions = `SELECT (${version}) AS whole, (${printVersion(new Set(alone.tables))}) AS counted`
  const text =
    `SELECT (${body}), ${VERSIONS}.whole, ${VERSIONS}.counted, CASE WHEN ${VERSIONS}.counted = ${known} THEN NULL ELSE (${counted}) END ` +
    `FROM (${versions} OFFSET 0) ${VERSIONS}`
  const plain = `SELECT (${body}), (${counted})`
  return { text, uncachedText: plain, parameters: found.parameters, version, total }
}

const VERSIONS: Alias = 'v$'

/** The pseudo table whose version changes invalidate all tables: migrations increment it. */
export const EVERY_TABLE = '*'

/** The sum of the tables' versions. Every write increments one of them and none ever decreases, so an equal sum means no write. */
function printVersion(tables: ReadonlySet<string>): string {
  const names = [EVERY_TABLE, ...[...tables].toSorted()].map(quoteText).join(', ')
  return `SELECT coalesce(sum(version), 0)::text FROM plinth_versions WHERE table_name IN (${names})`
}
