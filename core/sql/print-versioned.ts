import { type Alias, quoteText } from './identifier.ts'
import type { AnswerStatement } from './nodes.ts'
import { printBody, printContext, printSelectNode } from './print.ts'
import type { Template } from './statement.ts'

/** A statement that answers with what proves, later, that the answer is still the same. */
export interface VersionedTemplate extends Template {
  /** The same without proof: its parameters are the same. */
  readonly uncachedText: string
  /** Answers the version of all the tables that the statement looks at, as text: equal ones, equal answers. */
  readonly version: string
  /** The statement of the total alone; null: none is asked for. */
  readonly total: Template | null
}

/**
 * Prints an answer as one statement of one row, all of one snapshot: the JSON text or null, the version of its tables;
 * and where a total is asked for, the version of the tables that this comes from, and the total, or null where the
 * last parameter, which has no node, is that version.
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

/** Stands beside the names of tables where something moves the versions of them all: a migration. */
export const EVERY_TABLE = '*'

/** Of tables together: every write moves one of them, and none ever goes back. */
function printVersion(tables: ReadonlySet<string>): string {
  const names = [EVERY_TABLE, ...[...tables].toSorted()].map(quoteText).join(', ')
  return `SELECT coalesce(sum(version), 0)::text FROM plinth_versions WHERE table_name IN (${names})`
}
