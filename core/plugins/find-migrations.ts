import type { Dirent } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Diagnostic } from '../faults/diagnostic.ts'
import { diagnoseModule } from './plugin-fault.ts'

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
  const names = entries.filter(entry => entry.isFile() && CODE.test(entry.name)).map(({ name }) => name)
  const sorted = names.toSorted()
  return {
    files: sorted.flatMap(name => toFile(root, name)),
    faults: sorted.filter(name => !NAME.test(name)).map(misnamed),
  }
}

const CODE = /^(?!\.).*(?<!\.d)\.(sql|[cm]?[jt]s)$/
const NAME = /^\w[\w.-]*\.(before|after)\.\w+$/

function toFile(root: string, name: string): readonly MigrationFile[] {
  const moment = NAME.exec(name)?.[1]
  if (moment !== 'before' && moment !== 'after') return []
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
