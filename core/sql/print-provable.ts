import type { Alias } from './alias.ts'
import { quoteText } from './identifier.ts'
import type { Answer } from './nodes.ts'
import { nothing, printBody, printSelect } from './print.ts'
import type { Template } from './template.ts'

/** A statement that answers with what proves, later, that the answer is still the same. */
export interface ProvableTemplate extends Template {
  /** The same without proof: its parameters are the same. */
  readonly plain: string
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
export function printProvable(answer: Answer): ProvableTemplate {
  const found = nothing(answer.maxBytes)
  const body = printBody(answer, found)
  if (!answer.total) {
    const version = printVersion(new Set(found.tables))
    const text = `SELECT (${body}), (${version})`
    return { text, plain: body, parameters: found.parameters, version, total: null }
  }
  const alone = nothing()
  const total = { text: printSelect(answer.total, alone), parameters: alone.parameters }
  const counted = printSelect(answer.total, found)
  const known = `$${found.parameters.length + 1}::text`
  const version = printVersion(new Set(found.tables))
  const versions = `SELECT (${version}) AS whole, (${printVersion(new Set(alone.tables))}) AS counted`
  const text =
    `SELECT (${body}), ${VERSIONS}.whole, ${VERSIONS}.counted, CASE WHEN ${VERSIONS}.counted = ${known} THEN NULL ELSE (${counted}) END ` +
    `FROM (${versions} OFFSET 0) ${VERSIONS}`
  const plain = `SELECT (${body}), (${counted})`
  return { text, plain, parameters: found.parameters, version, total }
}

const VERSIONS: Alias = 'v$'

/** Stands beside the names of tables where something moves the versions of them all: a migration. */
export const EVERY_TABLE = '*'

/** Of tables together: every write moves one of them, and none ever goes back. */
function printVersion(tables: ReadonlySet<string>): string {
  const names = [EVERY_TABLE, ...[...tables].toSorted()].map(quoteText).join(', ')
  return `SELECT coalesce(sum(version), 0)::text FROM plinth_versions WHERE table_name IN (${names})`
}
