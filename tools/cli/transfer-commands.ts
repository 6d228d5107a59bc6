import { type Command, Option } from 'commander'
import type { OnConflict } from '../transfer/import/import-options.ts'
import { addOverrides, commandContext } from './command-options.ts'

const folderArgument = ['[folder]', 'the folder of project.yaml', '.'] as const

/** `plinth export` and `plinth import`; returns the latter, for its subcommands. */
export function addTransfer(program: Command): Command {
  addExport(program)
  // `import strapi` has options of the same names.
  const command = program.command('import').enablePositionalOptions()
  addImport(command)
  return command
}

function addExport(program: Command): void {
  addOverrides(program.command('export'), ['--database'])
    .description('write documents as a stream of lines (NDJSON) that `plinth import` reads')
    .argument(...folderArgument)
    .requiredOption('--out <file>', 'the output file; `-` is standard output')
    .option('--types <types>', 'only these content-types, by key or uid, separated by commas', split)
    .option('--files <folder>', 'also copy the contents of files to this folder')
    .option('--password-hashes', 'include password hashes: protect the file like passwords', false)
    .action(async (folder: string, options: ExportOptions) => {
      const { runExport } = await import('./export.ts')
      process.exitCode = await runExport({
        ...(await commandContext(folder)),
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
  addOverrides(command, ['--database'])
    .description('read documents from a stream that `plinth export` wrote')
    .usage('[options] [folder] <file>')
    .argument('<folder-or-file>', 'the folder of project.yaml; `.` if only the file is given')
    .argument('[file]', 'the input file; `-` is standard input')
    .addOption(
      new Option('--on-conflict <way>', 'what to do with documents that already exist')
        .choices(['skip', 'update', 'fail'])
        .default('skip'),
    )
    .option('--files <folder>', 'also import the contents of files from this folder')
    .option('--dry-run', 'validate everything and write nothing', false)
    .option(
      '--skip-invalid <report>',
      'skip invalid documents and list them with line and reason in this file',
    )
    .option('--events', 'deliver events to listeners', false)
    .action(async (first: string, second: string | undefined, options: ImportOptions) => {
      const { runImport } = await import('./import.ts')
      const [folder, file] = second === undefined ? ['.', first] : [first, second]
      process.exitCode = await runImport({
        ...(await commandContext(folder)),
        ...options,
        file,
        files: options.files,
      })
    })
}

/** Keeps empty names: an empty shell variable must not select all types. */
const split = (words: string): readonly string[] => words.split(',').map(word => word.trim())

interface StrapiOptions {
  readonly out: string
  readonly force: boolean
  readonly json: boolean
  readonly database?: string
  readonly archive?: string
  readonly key?: string
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
    .description('convert a Strapi 4 or 5 project to project.yaml, with comments on what has no equivalent')
    .argument('<dir>', 'the folder of the Strapi project, with its package.json')
    .option('--out <folder>', 'the folder for project.yaml', '.')
    .option('--force', 'overwrite an existing project.yaml', false)
    .option(
      '--database <url>',
      "Strapi's PostgreSQL or SQLite file: also imports roles, permissions, locales and content",
    )
    .option(
      '--archive <file>',
      'an archive of `strapi export` (.tar, .tar.gz, .tar.gz.enc) instead of the database',
    )
    .option('--key <key>', 'the key of an encrypted archive')
    .option('--database-schema <name>', 'the schema of its tables', 'public')
    .option('--time-zone <name>', "the time zone of Strapi's timestamps, such as Europe/Berlin", 'UTC')
    .option('--content <file>', 'write documents to a file for `plinth import` instead of the database')
    .option('--no-content', 'do not import documents')
    .option('--skip-invalid <report>', 'skip invalid documents and list them with the reason in this file')
    .option('--json', 'one line of JSON for programs', false)
    .action(async (dir: string, { content, database, ...options }: StrapiOptions) => {
      const { runImportStrapi } = await import('./import-strapi.ts')
      process.exitCode = await runImportStrapi({
        ...(await commandContext(options.out)),
        ...options,
        dir,
        database,
        content: typeof content === 'string' ? { file: content } : content === false ? 'none' : 'database',
      })
    })
}
