import type { Dirent } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Diagnostic } from '../../faults/diagnostic.ts'
import { diagnoseModule } from '../plugin-fault.ts'

/** Where the migrations that are written by hand lie, beside project.yaml. */
export const MIGRATIONS = 'migrations'

export interface MigrationFile {
  readonly name: string
  readonly moment: 'before' | 'after'
  /** Absolute. */
  readonly file: string
  /** `migrations/2026-11-21-split-name.before.sql` */
  readonly shown: string
}

export interface FoundMigrations {
  readonly files: readonly MigrationFile[]
  readonly faults: readonly Diagnostic[]
}

/** The files of the folder, by name; read-mes and the like are nobody's business. */
export async function findMigrations(root: string): Promise<FoundMigrations> {
  const entries = await readdir(join(root, MIGRATIONS), { withFileTypes: true }).catch(noFolder)
  const names = entries.filter(entry => entry.isFile() && isCode(entry.name)).map(({ name }) => name)
  const sorted = names.toSorted()
  return {
    files: sorted.flatMap(name => toFile(root, name)),
    faults: sorted.filter(name => momentOf(name) === null).map(misnamed),
  }
}

const ENDINGS: ReadonlySet<string> = new Set(['sql', 'js', 'cjs', 'mjs', 'ts', 'cts', 'mts'])

/** Neither hidden nor a declaration of types. */
function isCode(name: string): boolean {
  const parts = name.split('.')
  return parts.length > 1 && parts[0] !== '' && parts.at(-2) !== 'd' && ENDINGS.has(parts.at(-1) ?? '')
}

/** null: the name does not say it. */
function momentOf(name: string): MigrationFile['moment'] | null {
  const moment = name.split('.').slice(1).at(-2)
  if (!/^\w[\w.-]*$/.test(name)) return null
  return moment === 'before' || moment === 'after' ? moment : null
}

function toFile(root: string, name: string): readonly MigrationFile[] {
  const moment = momentOf(name)
  if (moment === null) return []
  return [{ name, moment, file: join(root, MIGRATIONS, name), shown: `${MIGRATIONS}/${name}` }]
}

const misnamed = (name: string): Diagnostic =>
  diagnoseModule(
    'bad-migration',
    `\`${name}\` does not say when it runs: name it like 2026-11-21-split-name.before.sql, with \`before\` or \`after\` the generated steps, in letters, digits, dots and hyphens`,
    { file: `${MIGRATIONS}/${name}` },
  )

function noFolder(error: unknown): readonly Dirent[] {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code === 'ENOENT' || code === 'ENOTDIR') return []
  throw error
}
