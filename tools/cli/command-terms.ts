import type { Environment } from '../../core/project/environment.ts'
import type { Paint } from './paint.ts'

/** Where a command finds the project, and how it answers. */
export interface CommandTerms {
  readonly folder: string
  readonly env: Environment
  readonly paint: Paint
  /** What was asked for. */
  readonly write: (text: string) => void
  /** Why there is no answer. */
  readonly complain: (text: string) => void
}

/** Of this process: its environment, its terminal. */
export async function termsOf(folder: string): Promise<CommandTerms> {
  const { paintFor } = await import('./paint.ts')
  return {
    folder,
    env: process.env,
    paint: paintFor(process.stdout.isTTY === true, process.env),
    write: text => void process.stdout.write(text),
    complain: text => void process.stderr.write(text),
  }
}
