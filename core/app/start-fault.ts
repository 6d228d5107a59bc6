import { isDiskOutage } from '../base/disk-errors.ts'
import { failed, type Result } from '../base/result.ts'
import { withNoun } from '../base/text.ts'
import type { OpeningFault } from '../database/connect/opening-fault.ts'
import { type DatabaseFault, isOutage, toDatabaseFault } from '../database/database-fault.ts'
import { type Diagnostic, fromWorkingDirectory, printDiagnostic } from '../faults/diagnostic.ts'
import type { Leftover, SchemaRefusal } from '../migrate/schema/finding.ts'
import { type Environment, readEnvironment } from '../project/environment.ts'
import type { Project } from '../project/project.ts'

/** The reason that an app did not start. Nothing was changed unless the message says so. */
export type StartFault =
  /** The files of the project are wrong. */
  | { readonly kind: 'files'; readonly diagnostics: readonly Diagnostic[] }
  | { readonly kind: 'database'; readonly fault: OpeningFault }
  /** The migration would lose or break stored data. */
  | { readonly kind: 'schema'; readonly refusals: readonly SchemaRefusal[] }
  /** Another reason, in one sentence: a port in use, a removed role that users still have. */
  | { readonly kind: 'other'; readonly message: string }

/** The message of an aborted start. */
export const START_ENDED = 'The start was ended'

/**
 * The fault of an error that was thrown during a start; undefined: a bug. Each step of a start is a transaction, so the
 * next start continues after the last committed step.
 */
function toStartFault(error: unknown): StartFault | undefined {
  const reason = describeFileError(error)
  if (reason !== undefined) return { kind: 'other', message: reason }
  const fault = toDatabaseFault(error)
  if (fault && (fault.kind === 'timeout' || isOutage(fault))) {
    const message = `The database stopped answering while it was prepared (${fault.message}): start again when it is back`
    return { kind: 'other', message }
  }
  return fault && isServerError(fault)
    ? { kind: 'other', message: `PostgreSQL cannot do what a start needs: ${fault.message}` }
    : undefined
}

/** For `catch` in a start: fails with the fault of an error, and throws a bug. */
export function failStart(error: unknown): Result<never, StartFault> {
  const fault = toStartFault(error)
  if (fault) return failed(fault)
  throw error
}

/** The message for an error of the file system: no permission, no room, a file where a folder is expected; undefined: another error. */
export const describeFileError = (error: unknown): string | undefined =>
  isFileError(error) ? `A file or folder cannot be used: ${error.message}` : undefined

/** Errors of sockets have no path, except for Unix sockets (`connect`); nor have writes to an open file. */
const isFileError = (error: unknown): error is Error =>
  isDiskOutage(error) ||
  (error instanceof Error && 'code' in error && (error.code === 'EFBIG' || error.code === 'EIO')) ||
  (error instanceof Error && 'syscall' in error && 'path' in error && error.syscall !== 'connect')

/** Of faults that are no outage, those that concern the server and not the statement: no room, corruption, missing privileges. */
const isServerError = (fault: DatabaseFault): boolean =>
  fault.kind === 'unavailable' || (fault.kind === 'other' && /^(XX|42501)/.test(fault.code ?? ''))

/** Replaces paths within `folder` by paths from the working directory, which terminals can open. */
export const withOpenPaths =
  (folder: string) =>
  (fault: StartFault): StartFault =>
    fault.kind === 'files'
      ? { ...fault, diagnostics: fault.diagnostics.map(fromWorkingDirectory(folder)) }
      : fault

/** One message for a terminal, with all diagnostics. */
export const printStartFault = (fault: StartFault): string =>
  fault.kind === 'files' ? `${printReason(fault)}; nothing was started.` : printReason(fault)

/** Like printStartFault, without the note that nothing was started. */
export function printReason(fault: StartFault): string {
  switch (fault.kind) {
    case 'files':
      return `${fault.diagnostics.map(printDiagnostic).join('\n\n')}\n\nThe project has ${withNoun(fault.diagnostics.length, 'fault')}`
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

/** The log line for a table or column that the project no longer declares and that stays in the database. */
export const describeLeftover = ({ table, column }: Leftover): string =>
  `${column === null ? `table ${table}` : `column ${table}.${column}`} is no longer in the project; it is empty and stays as it is, unless \`plinth migrate --allow-destructive\` drops it`

/**
 * The fault of a production start that would use the embedded database although no one chose it, such as with a forgotten
 * DATABASE_URL; null: none. `env`: by default that of the process.
 */
export async function findUnnamedDatabase(
  project: Project,
  env: Environment = process.env,
): Promise<StartFault | null> {
  const { root, settings, writtenAt } = project
  if (settings.database.url !== 'embedded') return null
  const written = writtenAt(['database', 'url'])
  if (written === null) return UNNAMED_DATABASE
  // The fallback in `${DATABASE_URL:-embedded}` is not a choice of the embedded database.
  const variables = await readEnvironment(root, env)
  const isNamed =
    written.variables.length === 0 ||
    written.variables.some(name => variables.ok && variables.value[name] === 'embedded')
  return isNamed ? null : UNNAMED_DATABASE
}

const UNNAMED_DATABASE: StartFault = {
  kind: 'other',
  message:
    'In production the database has to be named: set DATABASE_URL, or --database, to postgres://user:password@host:5432/database. `database: { url: embedded }` in project.yaml accepts the embedded one',
}
