import type { OpeningFault } from '../database/connect/opening-fault.ts'
import { type DatabaseFault, toDatabaseFault } from '../database/database-fault.ts'
import { type Diagnostic, printDiagnostic } from '../faults/diagnostic.ts'
import type { Left, SchemaRefusal } from '../migrate/schema/finding.ts'

/** Why an app did not start. Nothing was changed, but where the message says so. */
export type StartFault =
  /** The files of the project are wrong. */
  | { readonly kind: 'files'; readonly diagnostics: readonly Diagnostic[] }
  | { readonly kind: 'database'; readonly fault: OpeningFault }
  /** The database holds what a change of the model would lose or break. */
  | { readonly kind: 'schema'; readonly refusals: readonly SchemaRefusal[] }
  /** Another reason, in one sentence: a port in use, roles that users still hold. */
  | { readonly kind: 'other'; readonly message: string }

/** Why a start failed that was to end. */
export const START_ENDED = 'The start was ended'

/**
 * What was thrown while an app opened → why it did not start; undefined for a bug. Each step of a start is a
 * transaction, so the next start goes on from the last one that was finished.
 */
export function toStartFault(error: unknown): StartFault | undefined {
  if (isOfFiles(error)) return { kind: 'other', message: `A file or folder cannot be used: ${error.message}` }
  const fault = toDatabaseFault(error)
  if (fault && AWAY.has(fault.kind)) {
    const message = `The database stopped answering while it was prepared (${fault.message}): start again when it is back`
    return { kind: 'other', message }
  }
  return fault && isOfServer(fault)
    ? { kind: 'other', message: `PostgreSQL cannot do what a start needs: ${fault.message}` }
    : undefined
}

const AWAY: ReadonlySet<DatabaseFault['kind']> = new Set(['unavailable', 'busy', 'timeout'])

/** Of sockets, Node names no path. */
const isOfFiles = (error: unknown): error is Error =>
  error instanceof Error && 'syscall' in error && 'path' in error && error.syscall !== 'connect'

/** SQLSTATEs that tell of the server and not of the statement: damage, rights. */
const isOfServer = (fault: DatabaseFault): boolean =>
  fault.kind === 'other' && /^(XX|42501)/.test(fault.code ?? '')

/** For a terminal: one clear message, a line or a few each thing that is wrong. */
export const printStartFault = (fault: StartFault): string =>
  fault.kind === 'files' ? `${printReason(fault)}; nothing was started.` : printReason(fault)

/** The same, whatever came of it. */
export function printReason(fault: StartFault): string {
  switch (fault.kind) {
    case 'files':
      return `${fault.diagnostics.map(printDiagnostic).join('\n\n')}\n\nThe project has ${count(fault.diagnostics.length, 'fault')}`
    case 'database':
      return fault.fault.message
    case 'schema':
      return [
        'The database cannot be brought in step with this project; nothing was changed:',
        ...fault.refusals.map(({ message }) => `  - ${message}`),
        '`plinth plan` shows all that it needs, and what `plinth migrate` would do.',
      ].join('\n')
    case 'other':
      return fault.message
  }
}

/** What stays in the database although the project no longer wants it. */
export const printLeft = ({ table, column }: Left): string =>
  `${column === null ? `table ${table}` : `column ${table}.${column}`} is no longer in the project; it is empty and stays as it is, unless \`plinth migrate --allow-destructive\` drops it`

const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? '' : 's'}`
