import { type Command, Option } from 'commander'
import type { OnConflict } from '../transfer/import/import-terms.ts'
import { termsOf } from './command-terms.ts'

const folderArgument = ['[folder]', 'the folder of project.yaml', '.'] as const

/** `plinth export` and `plinth import`; answers the latter, under which more ways to bring something from elsewhere stand. */
export function addTransfer(program: Command): Command {
  addExport(program)
  // `import strapi` has options of the same names.
  const command = program.command('import').enablePositionalOptions()
  addImport(command)
  return command
}

function addExport(program: Command): void {
  program
    .command('export')
    .description('write documents as a stream of lines (NDJSON) that `plinth import` reads')
    .argument(...folderArgument)
    .requiredOption('--out <file>', 'where to; `-` is the standard output')
    .option('--types <types>', 'these content-types alone, by key or uid, with commas between', split)
    .option('--files <folder>', 'with the bytes of files, into this folder')
    .option('--password-hashes', 'with what lets users sign in: keep the file as you keep passwords', false)
    .action(async (folder: string, options: ExportOptions) => {
      const { runExport } = await import('./export.ts')
      process.exitCode = await runExport({
        ...(await termsOf(folder)),
        ...options,
        types: options.types ?? [],
      })
    })
}

interface ExportOptions {
  readonly out: string
  readonly types?: readonly string[]
  readonly files?: string
  readonly passwordHashes: boolean
}

interface ImportOptions {
  readonly onConflict: OnConflict
  readonly dryRun: boolean
  readonly events: boolean
  readonly files?: string
  readonly skipInvalid?: string
}

function addImport(command: Command): void {
  command
    .description('read documents from a stream that `plinth export` wrote')
    .usage('[options] [folder] <file>')
    .argument('<folder-or-file>', 'the folder of project.yaml; `.` where the file alone is named')
    .argument('[file]', 'where from; `-` is the standard input')
    .addOption(
      new Option('--on-conflict <way>', 'what becomes of documents that the database has already')
        .choices(['skip', 'update', 'fail'])
        .default('skip'),
    )
    .option('--files <folder>', 'with the bytes of files, from this folder')
    .option('--dry-run', 'check all of it, and write nothing', false)
    .option(
      '--skip-invalid <report>',
      'leave out documents that cannot be imported, and list them with line and reason in this file',
    )
    .option('--events', 'tell listeners of what is written', false)
    .action(async (first: string, second: string | undefined, options: ImportOptions) => {
      const { runImport } = await import('./import.ts')
      const [folder, file] = second === undefined ? ['.', first] : [first, second]
      process.exitCode = await runImport({
        ...(await termsOf(folder)),
        ...options,
        file,
        files: options.files,
      })
    })
}

/** Nothing between commas is the name of nothing: an empty variable must not come to all types. */
const split = (words: string): readonly string[] => words.split(',').map(word => word.trim())

interface StrapiOptions {
  readonly out: string
  readonly force: boolean
  readonly json: boolean
  readonly database?: string
  readonly databaseSchema: string
  readonly timeZone: string
  /** false by --no-content; a text names a file. */
  readonly content?: false | string
  readonly skipInvalid?: string
}

/** `plinth import strapi`. */
export function addImportStrapi(parent: Command): void {
  parent
    .command('strapi')
    .description('make project.yaml of a Strapi 4 or 5 project, with comments on what has no counterpart')
    .argument('<dir>', 'the folder of the Strapi project, with its package.json')
    .option('--out <folder>', 'where project.yaml goes', '.')
    .option('--force', 'put it in the place of one that is there', false)
    .option('--database <url>', "Strapi's PostgreSQL: brings roles, permissions, locales and content, too")
    .option('--database-schema <name>', 'the schema of its tables', 'public')
    .option('--time-zone <name>', 'by whose clock Strapi wrote its times, such as Europe/Berlin', 'UTC')
    .option('--content <file>', 'write the documents to a file for `plinth import`, not into the database')
    .option('--no-content', 'leave the documents where they are')
    .option(
      '--skip-invalid <report>',
      'leave out documents that Plinth would not take, and list them with the reason in this file',
    )
    .option('--json', 'one line of JSON for programs', false)
    .action(async (dir: string, { content, database, ...options }: StrapiOptions) => {
      const { runImportStrapi } = await import('./import-strapi.ts')
      process.exitCode = await runImportStrapi({
        ...(await termsOf(options.out)),
        ...options,
        dir,
        database,
        content: typeof content === 'string' ? { file: content } : content === false ? 'none' : 'database',
      })
    })
}
