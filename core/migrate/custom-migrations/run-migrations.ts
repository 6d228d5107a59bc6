import { type DatabaseFault, toDatabaseFault } from '../../database/database-fault.ts'
import { type DdlContext, runDdl } from '../../database/run-ddl.ts'
import { openSequelize, type Sequelize } from '../../database/sequelize.ts'
import { findTransactionCommand } from '../../database/transaction-commands.ts'
import { MigrationRefused } from '../migration-options.ts'
import { refusal } from '../schema/finding.ts'
import type { CustomMigration, CustomMigrationCode, Sql } from './custom-migration.ts'
import { recordFile } from './migration-record.ts'

/** The file as a step of a plan. */
export const summaryOf = ({ name }: CustomMigration): string => `run migrations/${name}`

/** Runs files one after another and records each. Rejects with a MigrationRefused that names the file. */
export async function runCustomMigrations(
  site: DdlContext,
  files: readonly CustomMigration[],
): Promise<void> {
  for (const file of files) {
    await runFile(site, file).catch((error: unknown) => refuse(file, error))
    await recordFile(site, file, true)
  }
}

/** A new database runs only the files that ask for it. */
export async function skipForNewDatabase(
  site: DdlContext,
  files: readonly CustomMigration[],
): Promise<readonly CustomMigration[]> {
  const kept: CustomMigration[] = []
  for (const file of files) {
    const work = await loadCustomMigration(file)
    if (work.newDatabases) kept.push(file)
    else await recordFile(site, file, false)
  }
  return kept
}

/** Rejects with a MigrationRefused if it cannot be loaded. */
export const loadCustomMigration = (file: CustomMigration): Promise<CustomMigrationCode> =>
  file.load().catch((error: unknown) => refuse(file, error))

async function runFile(site: DdlContext, file: CustomMigration): Promise<void> {
  const work = await file.load()
  site.transaction.endsSession()
  if (work.kind === 'sql') await runScript(site, work)
  else await runCode(site, work)
}

async function runScript(
  site: DdlContext,
  { text }: Extract<CustomMigrationCode, { kind: 'sql' }>,
): Promise<void> {
  assertInside(text)
  await runDdl(site, [text.trimEnd().replace(/;$/, '\n')])
}

/** Waits also for statements that the code did not await, even after a failure: the connection is reused afterwards. */
async function runCode(
  site: DdlContext,
  work: Extract<CustomMigrationCode, { kind: 'code' }>,
): Promise<void> {
  const { transaction } = site
  const sequelize = openSequelize({
    query: query => transaction.query(query),
    transaction: inner => transaction.nest(inner),
  })
  const asked: Promise<unknown>[] = []
  let open = true
  const sql: Sql = (text, ...values) => {
    const answer = open ? runOne(sequelize, text, values) : Promise.reject(new Error(OVER))
    asked.push(answer)
    // The failure of an unawaited statement is reported below.
    answer.catch(() => undefined)
    return answer as Promise<never>
  }
  try {
    await work.run({ sql })
    // More may be added meanwhile.
    for (const answer of asked) await answer
  } finally {
    open = false
    await Promise.allSettled(asked)
  }
}

const OVER = 'this migration is over: wait for each statement (`await`)'

async function runOne(
  sequelize: Sequelize,
  parts: TemplateStringsArray,
  values: readonly unknown[],
): Promise<unknown> {
  assertInside(parts.join('$1'))
  // Sequelize takes `$` for the beginning of a parameter's name.
  const text = parts
    .map(part => part.replaceAll('$', '$$$$'))
    .reduce((all, part, at) => `${all}$${at}${part}`)
  const [rows] = await sequelize.query(text, { bind: [...values], raw: true })
  return Array.isArray(rows) ? rows : []
}

function assertInside(text: string): void {
  const word = findTransactionCommand(text)
  if (word === null) return
  throw new Error(`${word} would end the migration's transaction, in which all of it is done: leave it out`)
}

/** Failures that are not the file's fault. */
const EXTERNAL_FAILURES: ReadonlySet<DatabaseFault['kind']> = new Set([
  'timeout',
  'unavailable',
  'busy',
  'serialization',
])

function refuse({ name }: CustomMigration, error: unknown): never {
  const fault = toDatabaseFault(error)
  if (fault !== undefined && EXTERNAL_FAILURES.has(fault.kind)) throw error
  const why = fault?.message ?? (error instanceof Error ? error.message : String(error))
  throw new MigrationRefused([
    refusal('migration-failed', null, `migrations/${name} failed: ${why.replace(/\s+/g, ' ').trim()}`),
  ])
}
