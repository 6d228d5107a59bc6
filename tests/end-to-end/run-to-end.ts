import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { freePort } from '../harness/free-port.ts'
import { PLINTH } from '../harness/program.ts'

const root = resolve(import.meta.dirname, '..', '..')

export interface Ended {
  readonly code: number | null
  /** The text written to standard error, without the steps of the start. */
  readonly output: string
}

/** tests/cli/terminal.test.ts checks these lines. */
const STEPS = /^(Plinth .*: reading the project …|Database: .*|(Creating|Opening) the database …)\n/gm

/** Runs a command, `plinth start` by default, that is expected to exit; it is killed after two minutes. */
export async function runToEnd(
  project: string,
  environment: Readonly<Record<string, string>>,
  command = 'start',
): Promise<Ended> {
  const child = spawn(process.execPath, [...PLINTH, command, project], {
    cwd: root,
    env: {
      ...process.env,
      NODE_ENV: 'development',
      HOST: '127.0.0.1',
      PORT: String(await freePort()),
      DATABASE_URL: 'embedded',
      ...environment,
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const patience = setTimeout(() => child.kill('SIGKILL'), 120_000)
  const [output] = await Promise.all([text(child.stderr), once(child, 'exit')])
  clearTimeout(patience)
  return { code: child.exitCode, output: output.replace(STEPS, '') }
}
