import { compileApp } from '../app/compile-app.ts'
import { serveApp } from '../app/serve-app.ts'
import { printStartFault, type StartFault } from '../app/start-fault.ts'

/** `plinth start`: serves until SIGTERM or SIGINT, and answers what is under way before it ends. Exit code 1 where it cannot start. */
export async function runStart(folder: string): Promise<void> {
  const compiled = await compileApp(folder, process.env)
  if (!compiled.ok) return giveUp([{ kind: 'files', diagnostics: compiled.reasons }])
  const write = (line: string) => void process.stdout.write(line)
  const served = await serveApp(compiled.value, {
    write,
    pretty: process.stdout.isTTY === true,
    production: process.env.NODE_ENV === 'production',
  })
  if (!served.ok) return giveUp(served.reasons)
  // One forgotten `await` of a plugin ends no request but its own.
  process.on('unhandledRejection', error => served.value.tellUnheard(error))
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    process.once(signal, () => void stop(served.value.close()))
}

async function stop(closing: Promise<void>): Promise<void> {
  await closing
  process.exit()
}

function giveUp(faults: readonly StartFault[]): void {
  process.stderr.write(`${faults.map(printStartFault).join('\n\n')}\n`)
  process.exitCode = 1
}
