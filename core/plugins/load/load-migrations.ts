import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { failed, ok, type Result } from '../../base/result.ts'
import { transactionWordIn } from '../../database/transaction-words.ts'
import type { Diagnostic } from '../../faults/diagnostic.ts'
import type { Handwritten, HandwrittenWork } from '../../migrate/custom-migrations.ts'
import { kindOf } from '../kind.ts'
import type { Migration } from '../migration.ts'
import { diagnoseModule } from '../plugin-fault.ts'
import { findMigrations, type MigrationFile } from './find-migrations.ts'
import { moduleError } from './module-error.ts'
import { defaultOf, openLoader } from './module-loader.ts'

/** The files of migrations/ beside project.yaml, modules unread until they are to run; or what is wrong with them. */
export async function loadMigrations(root: string): Promise<Result<readonly Handwritten[], Diagnostic>> {
  const { files, faults } = await findMigrations(root)
  const texts = await Promise.all(files.map(({ file }) => readFile(file, 'utf8')))
  const wrong = files.flatMap((file, at) => [...checkText(file, texts[at] ?? '')])
  if (faults.length + wrong.length > 0) return failed(...faults, ...wrong)
  return ok(files.map((file, at) => toHandwritten(root, file, texts[at] ?? '')))
}

/** What is wrong with the modules among them, which are loaded for it. */
export async function checkMigrations(root: string): Promise<readonly Diagnostic[]> {
  const { files } = await findMigrations(root)
  const modules = files.filter(({ name }) => !name.endsWith('.sql'))
  const faults = await Promise.all(
    modules.map(file =>
      toCode(root, file).then(
        () => [],
        (error: unknown) => [moduleError(file, error)],
      ),
    ),
  )
  return faults.flat()
}

function* checkText({ name, shown }: MigrationFile, text: string): Generator<Diagnostic> {
  if (!name.endsWith('.sql')) return
  const word = transactionWordIn(text)
  if (word === null) return
  const why = 'the file is run in the transaction of the whole migration'
  yield diagnoseModule('bad-migration', `${word} must not be in it: ${why}`, { file: shown })
}

/** Line ends are the checkout's, not the author's. */
const checksumOf = (text: string): string =>
  createHash('sha256').update(text.replaceAll('\r\n', '\n')).digest('hex')

const toHandwritten = (root: string, file: MigrationFile, text: string): Handwritten => ({
  name: file.name,
  moment: file.moment,
  checksum: checksumOf(text),
  load: async () => (file.name.endsWith('.sql') ? toScript(text) : toCode(root, file)),
})

const toScript = (text: string): HandwrittenWork => ({
  kind: 'sql',
  text,
  newDatabases: NEW_DATABASES.test(text),
})

const NEW_DATABASES = /^--[ \t]*plinth:[ \t]*new databases too[ \t\r]*$/m

async function toCode(root: string, { file }: MigrationFile): Promise<HandwrittenWork> {
  const loader = await openLoader(root)
  const exported = defaultOf(await loader.load(file))
  if (!isMigration(exported)) throw new Error('expected `export default defineMigration(…)`')
  return { kind: 'code', run: tools => exported.run(tools), newDatabases: exported.newDatabases }
}

const isMigration = (value: unknown): value is Migration => kindOf(value) === 'migration'
