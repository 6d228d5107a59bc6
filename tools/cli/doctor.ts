import { createReadStream } from 'node:fs'
import { failed, ok, type Result } from '../../core/base/result.ts'
import { planMigration } from '../../core/migrate/plan-migration.ts'
import type { Advice } from '../doctor/advice.ts'
import { examine, isFault } from '../doctor/examine.ts'
import { findSlowReads, type SlowRead } from '../doctor/slow-reads.ts'
import type { CommandContext } from './command-terms.ts'
import type { Paint } from './paint.ts'
import { printReasons, withSchemaReadOnly } from './schema-project.ts'

export interface DoctorTerms extends CommandContext {
  /** The log file; `-`: read `input`; absent: no log. */
  readonly log?: string
  readonly input: () => AsyncIterable<string>
  readonly json: boolean
  readonly analyze: boolean
  readonly tries: boolean
}

/** `plinth doctor`: diagnostics for speed and safety. Returns the exit code: 1 if there is a fault or the diagnosis failed. */
export async function runDoctor(terms: DoctorTerms): Promise<0 | 1> {
  const log = await readLog(terms)
  if (!log.ok) return printReasons(terms, log.reasons)
  const { env, analyze, tries } = terms
  const looked = await withSchemaReadOnly(terms, async (database, { project, model, storage, files }) =>
    examine({
      settings: project.settings,
      production: env.NODE_ENV === 'production',
      workers: Math.max(1, Number(env.WORKERS ?? 1) || 1),
      database,
      model,
      storage,
      analyze,
      tries,
      reads: log.value,
      plan: await planMigration(database, storage.tables, { files }),
    }),
  )
  if (!looked.ok) return printReasons(terms, looked.reasons)
  const advice = looked.value
  terms.write(terms.json ? `${JSON.stringify({ advice })}\n` : printAdvice(advice, terms.paint))
  return advice.some(isFault) ? 1 : 0
}

async function readLog({ log, input }: DoctorTerms): Promise<Result<readonly SlowRead[], string>> {
  if (log === undefined) return ok([])
  try {
    return ok(await findSlowReads(log === '-' ? input() : createReadStream(log, 'utf8')))
  } catch (error) {
    if (error instanceof Error && 'syscall' in error)
      return failed(`The log ${log} cannot be read: ${error.message}`)
    throw error
  }
}

function printAdvice(advice: readonly Advice[], paint: Paint): string {
  if (advice.length === 0) return 'No problems found.\n'
  return advice.map(one => printOne(one, paint)).join('\n')
}

function printOne({ severity, about, found, remedy, paste }: Advice, paint: Paint): string {
  const head = `${paint(severity === 'fault' ? 'red' : 'yellow', severity)}  ${paint('bold', about)}: ${found}.`
  const lines = (paste?.split('\n') ?? []).map(line => `      ${line}`)
  return `${[head, `    ${remedy}${paste === undefined ? '' : ':'}`, ...lines].join('\n')}\n`
}
