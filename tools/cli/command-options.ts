import { type Command, Option } from 'commander'
import { type Environment, overrideOf } from '../../core/project/environment.ts'
import type { Paint } from './paint.ts'

/** The input and output of a command. */
export interface CommandContext {
  readonly folder: string
  readonly env: Environment
  readonly paint: Paint
  /** Writes results to standard output. */
  readonly write: (text: string) => void
  /** Writes errors to standard error. */
  readonly writeError: (text: string) => void
}

/** The environment and terminal of this process. */
export async function commandContext(folder: string): Promise<CommandContext> {
  const { paintFor } = await import('./paint.ts')
  return {
    folder,
    env: process.env,
    paint: paintFor(process.stdout.isTTY === true, process.env),
    write: text => void process.stdout.write(text),
    writeError: text => void process.stderr.write(text),
  }
}

const OVERRIDES = {
  '--host': new Option('--host <address>', 'the address to listen on, instead of server.host'),
  '--port': new Option('--port <number>', 'the port to listen on, instead of server.port'),
  '--database': new Option(
    '--database <url>',
    'the database, instead of database.url: postgres://… or embedded',
  ),
}

/** Adds options that take precedence over the project file and the environment. Worker processes and reloads inherit them. */
export function addOverrides(command: Command, options: readonly (keyof typeof OVERRIDES)[]): Command {
  for (const name of options) command.addOption(OVERRIDES[name])
  return command.hook('preAction', (_, action) => {
    if (action !== command) return
    for (const name of options) {
      const value: unknown = command.getOptionValue(name.slice(2))
      if (value === '') command.error(`error: option '${OVERRIDES[name].flags}' needs a value`)
      if (typeof value === 'string') process.env[overrideOf(name)] = value
    }
  })
}
