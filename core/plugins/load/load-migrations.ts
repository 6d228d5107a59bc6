import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { readFolder } from '../../base/read-folder.ts'
import { failed, ok, type Result } from '../../base/result.ts'
import { findTransactionCommand } from '../../database/transaction-commands.ts'
import type { Diagnostic } from '../../faults/diagnostic.ts'
import type {
  CustomMigration,
  CustomMigrationCode,
} from '../../migrate/custom-migrations/custom-migration.ts'
import type { Migration } from '../migration.ts'
import { moduleKind } from '../plugin-module.ts'
import { diagnoseModule } from './find-modules.ts'
import { ModuleFault, moduleError, wrongExport } from './module-fault.ts'
import { defaultExport, openLoader } from './module-loader.ts'

/** Reads the custom migrations. Modules are loaded when they run. Fails with all faults. */
export async function loadMigrations(root: string): Promise<Result<readonly CustomMigration[], Diagnostic>> {
  const { files, faults } = await findMigrations(root)
  const texts = await Promise.all(files.map(({ file }) => readFile(file, 'utf8')))
  const wrong = files.flatMap((file, at) => [...checkText(file, texts[at] ?? '')])
  if (faults.length + wrong.length > 0) return failed(...faults, ...wrong)
  return ok(files.map((file, at) => toHandwritten(root, file, texts[at] ?? '')))
}

/** Loads the migration modules and returns their faults. */
export async function checkMigrations(root: string): Promise<readonly Diagnostic[]> {
  const { files } = await findMigrations(root)
  const modules = files.filter(({ name }) => !name.endsWith('.sql'))
  const faults = await Promise.all(
    modules.map(file =>
      loadCode(root, file).then(
        () => [],
        (error: unknown) => [moduleError(file, error)],
      ),
    ),
  )
  return faults.flat()
}

function* checkText({ name, shown }: MigrationFile, text: string): Generator<Diagnostic> {
  if (!name.endsWith('.sql')) return
  const word = findTransactionCommand(text)
  if (word === null) return
  const why = 'the file is run in the transaction of the whole migration'
  yield diagnoseModule('bad-migration', `${word} must not be in it: ${why}`, { file: shown })
}

/** Ignores line endings, which depend on the checkout. */
const checksum = (text: string): string =>
  createHash('sha256').update(text.replaceAll('\r\n', '\n')).digest('hex')

const toHandwritten = (root: string, file: MigrationFile, text: string): CustomMigration => ({
  name: file.name,
  moment: file.moment,
  checksum: checksum(text),
  load: async () => (file.name.endsWith('.sql') ? toScript(text) : loadCode(root, file)),
})

const toScript = (text: string): CustomMigrationCode => ({
  kind: 'sql',
  text,
  newDatabases: NEW_DATABASES.test(text),
})

const NEW_DATABASES = /^--[ \t]*plinth:[ \t]*new databases too[ \t\r]*$/m

async function loadCode(root: string, file: MigrationFile): Promise<CustomMigrationCode> {
  const loader = await openLoader(root)
  const exported = defaultExport(await loader.load(file.file))
  if (!isMigration(exported)) throw new ModuleFault(wrongExport(file, 'migration', exported))
  return { kind: 'code', run: tools => exported.run(tools), newDatabases: exported.newDatabases }
}

const isMigration = (value: unknown): value is Migration => moduleKind(value) === 'migration'

/** Folder of custom migrations, next to project.yaml. */
export const MIGRATIONS = 'migrations'

interface MigrationFile {
  readonly name: string
  readonly moment: 'before' | 'after'
  /** Absolute. */
  readonly file: string
  /** `migrations/2026-11-21-split-name.before.sql` */
  readonly shown: string
}

interface FoundMigrations {
  readonly files: readonly MigrationFile[]
  readonly faults: readonly Diagnostic[]
}

/** Migration files sorted by name; other files are ignored. */
async function findMigrations(root: string): Promise<FoundMigrations> {
  const entries = await readFolder(join(root, MIGRATIONS))
  const names = entries.filter(entry => !entry.isDirectory() && isCode(entry.name)).map(({ name }) => name)
  const sorted = names.toSorted()
  return {
    files: sorted.flatMap(name => toFile(root, name)),
    faults: sorted.filter(name => migrationMoment(name) === null).map(misnamedMigration),
  }
}

const ENDINGS: ReadonlySet<string> = new Set(['sql', 'js', 'cjs', 'mjs', 'ts', 'cts', 'mts'])

/** False for hidden files and type declarations. */
function isCode(name: string): boolean {
  const parts = name.split('.')
  return parts.length > 1 && parts[0] !== '' && parts.at(-2) !== 'd' && ENDINGS.has(parts.at(-1) ?? '')
}

/** null: the name has neither `before` nor `after`. */
function migrationMoment(name: string): MigrationFile['moment'] | null {
  const moment = name.split('.').slice(1).at(-2)
  if (!/^\w[\w.-]*$/.test(name)) return null
  return moment === 'before' || moment === 'after' ? moment : null
}

function toFile(root: string, name: string): readonly MigrationFile[] {
  const moment = migrationMoment(name)
  if (moment === null) return []
  return [{ name, moment, file: join(root, MIGRATIONS, name), shown: `${MIGRATIONS}/${name}` }]
}

const misnamedMigration = (name: string): Diagnostic =>
  diagnoseModule(
    'bad-migration',
    `\`${name}\` does not say when it runs: name it like 2026-11-21-split-name.before.sql, with \`before\` or \`after\` the generated steps, in letters, digits, dots and hyphens`,
    { file: `${MIGRATIONS}/${name}` },
  )
