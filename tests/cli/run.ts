import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { paintFor } from '../../tools/cli/paint.ts'
import type { OutputFormat, RolesContext } from '../../tools/cli/roles/roles-output.ts'

/** The example project as it once was: its lines stay where they are. */
export const EXAMPLE = join(import.meta.dirname, 'example')

export interface Ran {
  readonly code: number
  readonly out: string
  readonly complaint: string
}

export interface RunOptions {
  readonly folder?: string
  readonly form?: OutputFormat
  readonly terminal?: boolean
  readonly env?: Readonly<Record<string, string>>
}

/** Runs one of the commands under `plinth roles` as the command line does. */
export async function run(
  command: (options: RolesContext) => Promise<number>,
  { folder = EXAMPLE, form = 'text', terminal = false, env = {} }: RunOptions = {},
): Promise<Ran> {
  const out: string[] = []
  const complaint: string[] = []
  const code = await command({
    folder,
    env,
    form,
    paint: paintFor(terminal, env),
    write: text => void out.push(text),
    writeError: text => void complaint.push(text),
  })
  return { code, out: out.join(''), complaint: complaint.join('') }
}

/** The text that is expected; written first where UPDATE_GOLDEN asks for it. */
export function golden(name: string, actual: string): string {
  const path = join(import.meta.dirname, 'golden', name)
  if (process.env.UPDATE_GOLDEN) {
    mkdirSync(join(import.meta.dirname, 'golden'), { recursive: true })
    writeFileSync(path, actual)
  }
  return readFileSync(path, 'utf8')
}
