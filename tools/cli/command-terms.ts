import type { Environment } from '../../core/project/environment.ts'
import type { Paint } from './paint.ts'

/** The input and output of a command. */
export interface CommandContext {
  readonly folder: string
  readonly env: Environment
  readonly paint: Paint
  /** Writes results to standard output. */
  readonly write: (text: string) => void
  /** Writes errors to standard error. */
  readonly complain: (text: string) => void
}

/** The environment and terminal of this process. */
export async function commandContext(folder: string): Promise<CommandContext> {
  const { paintFor } = await import('./paint.ts')
  return {
    folder,
    env: process.env,
    paint: paintFor(process.stdout.isTTY === true, process.env),
    write: text => void process.stdout.write(text),
    complain: text => void process.stderr.write(text),
  }
}
