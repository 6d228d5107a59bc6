import { setFlagsFromString } from 'node:v8'
import { Argument, Command, Option } from 'commander'
import { PRODUCT_VERSION } from '../../core/base/product.ts'
import { addOverrides, commandContext } from './command-options.ts'
import { addRoles } from './roles/roles-commands.ts'
import { addInit, addStart } from './start-commands.ts'
import type { TokenOptions } from './token.ts'
import { addImportStrapi, addTransfer } from './transfer-commands.ts'
import type { UserChange } from './user.ts'

const folderArgument = ['[folder]', 'the folder of project.yaml', '.'] as const

/** Commands that may use the database for long. */
const LONG_COMMANDS: ReadonlySet<string> = new Set(['start', 'import', 'strapi', 'export'])

/**
 * Keeps V8 from compiling the embedded database's WebAssembly a second time with its optimising compiler: that takes
 * longer than the few statements of a short command.
 */
const compileOnce = () => setFlagsFromString('--liftoff-only')

/** Each command loads its code lazily: `plinth check` does not load the database code, for example. */
const program = new Command('plinth')
  .description('The content API that you declare: project.yaml becomes REST and GraphQL over PostgreSQL.')
  .version(PRODUCT_VERSION)
  .hook('preAction', (_, action) => {
    if (!LONG_COMMANDS.has(action.name())) compileOnce()
  })

addOverrides(program.command('check'), ['--port', '--host', '--database'])
  .description('validate a project without connecting to the database')
  .argument(...folderArgument)
  .option(
    '--print',
    'print each setting with its origin: a file, an option, the environment, or the default',
    false,
  )
  .option('--json', 'one line of JSON for programs', false)
  .action(async (folder: string, { json, print }: { json: boolean; print: boolean }) => {
    const { runCheck, withUnhandled } = await import('./check.ts')
    const { checkApp } = await import('../../core/app/check-app.ts')
    const write = (text: string) => void process.stdout.write(text)
    process.exitCode = await runCheck({
      folder,
      json,
      print,
      env: process.env,
      write,
      checkers: [withUnhandled(checkApp(process.env, message => process.stderr.write(`${message}\n`)))],
    })
  })

program
  .command('types')
  .description("write .plinth/types.d.ts: TypeScript types of the project's content-types")
  .argument(...folderArgument)
  .option('--out <file>', 'the output file, instead of .plinth/types.d.ts')
  .option('--check', 'write nothing; exit code 1 if the file is not up to date', false)
  .action(async (folder: string, options: { out?: string; check: boolean }) => {
    const { runTypes } = await import('./types/types.ts')
    process.exitCode = await runTypes({ ...(await commandContext(folder)), ...options })
  })

program
  .command('test')
  .description(
    'check tests/permissions.yaml, who may do what, on an embedded database in memory with content/',
  )
  .argument(...folderArgument)
  .option('--json', 'one line of JSON for programs', false)
  .action(async (folder: string, options: { json: boolean }) => {
    const { runPermissionTests } = await import('./roles/permission-tests.ts')
    process.exitCode = await runPermissionTests({ ...(await commandContext(folder)), ...options })
  })

addOverrides(program.command('review'), ['--database'])
  .description(
    'report what a change since a commit does to data, permissions and clients; exit code 2 if a person should look',
  )
  .argument('<git-ref>', 'a branch, a tag, a commit: main, HEAD~1')
  .argument(...folderArgument)
  .addOption(
    new Option('--format <format>', 'the format of the report')
      .choices(['text', 'markdown', 'json'])
      .default('text'),
  )
  .action(
    async (
      ref: string,
      folder: string,
      options: { format: 'text' | 'markdown' | 'json'; database?: string },
    ) => {
      const { runReview } = await import('./review/review.ts')
      const context = { ...(await commandContext(folder)), format: options.format }
      process.exitCode = await runReview({ ...context, usesDatabase: options.database !== undefined }, ref)
    },
  )

program
  .command('client')
  .description('write a typed client of the API: one TypeScript file without dependencies')
  .argument(...folderArgument)
  .requiredOption('--out <file>', 'the file to write')
  .option('--check', 'write nothing; exit code 1 if the file is not up to date', false)
  .action(async (folder: string, options: { out: string; check: boolean }) => {
    const { runClient } = await import('./types/client.ts')
    process.exitCode = await runClient({ ...(await commandContext(folder)), ...options })
  })

program
  .command('openapi')
  .description('print the OpenAPI 3.1 document of what a role may do, without connecting to the database')
  .argument(...folderArgument)
  .option('--role <name>', 'a role or an API token', 'public')
  .addOption(new Option('--format <format>', 'the format of answers').choices(['v4', 'v5']))
  .option('--out <file>', 'the output file, instead of standard output')
  .action(async (folder: string, options: { role: string; format?: 'v4' | 'v5'; out?: string }) => {
    const { runOpenapi } = await import('./openapi.ts')
    const write = (text: string) => void process.stdout.write(text)
    const writeError = (text: string) => void process.stderr.write(text)
    process.exitCode = await runOpenapi({ folder, env: process.env, write, writeError, ...options })
  })

program
  .command('token')
  .description('generate an API token: prints it once, with the lines for project.yaml that contain its hash')
  .argument('<name>', 'its name in project.yaml')
  .addOption(
    new Option('--type <type>', 'the type of the token')
      .choices(['read-only', 'full-access', 'custom'])
      .default('read-only'),
  )
  .option('--expires <time>', 'its time to live, such as 90d; by default it does not expire')
  .option('--json', 'one line of JSON for programs', false)
  .action(async (name: string, options: Pick<TokenOptions, 'type' | 'expires' | 'json'>) => {
    const { runToken } = await import('./token.ts')
    const write = (text: string) => void process.stdout.write(text)
    const writeError = (text: string) => void process.stderr.write(text)
    process.exitCode = runToken({ name, now: Date.now(), write, writeError, ...options })
  })

addInit(program)
addStart(program)
addSchema(program)
addDoctor(program)
addImportStrapi(addTransfer(program))
addRoles(program)
addUser(program)

program
  .command('completion')
  .description('print a script for bash, zsh or fish that completes commands, options and values')
  .addArgument(new Argument('<shell>', 'the shell').choices(['bash', 'zsh', 'fish']))
  .action(async (shell: 'bash' | 'zsh' | 'fish') => {
    const { printCompletion } = await import('./help.ts')
    process.stdout.write(printCompletion(program, shell))
  })

// Only help needs the examples.
if (process.argv.some(word => ['-h', '--help', 'help'].includes(word)))
  (await import('./help.ts')).addExamples(program)

// If the output is closed (EPIPE), a server keeps running and a command still returns its exit code.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined)

// A full disk has not what a command printed. The log of a server is no result of its run.
program.hook('preAction', (_, command) => {
  if (command.name() === 'start') return
  process.stdout.once('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') return
    process.stderr.write(`The output could not be written: ${error.message}\n`)
    process.once('exit', () => {
      process.exitCode = 1
    })
  })
})

await program.parseAsync().catch(async (error: unknown) => {
  const { describeFileError } = await import('../../core/app/start-fault.ts')
  const reason = describeFileError(error)
  if (reason === undefined) throw error
  process.stderr.write(`${reason}\n`)
  process.exitCode = 1
})

/** `plinth plan` and `plinth migrate`. */
function addSchema(program: Command): void {
  addPlan(program)
  addMigrate(program)
}

function addPlan(program: Command): void {
  addOverrides(program.command('plan'), ['--database'])
    .description('show the migration steps that the database needs; exit code 2 if there are any')
    .argument(...folderArgument)
    .option('--json', 'one line of JSON for programs', false)
    .option('--sql', 'print SQL statements', false)
    .action(async (folder: string, { json, sql }: { json: boolean; sql: boolean }) => {
      const { runPlan } = await import('./migrate.ts')
      const form = json ? 'json' : sql ? 'sql' : 'text'
      process.exitCode = await runPlan({ ...(await commandContext(folder)), form })
    })
}

interface MigrateOptions {
  readonly json: boolean
  readonly allowDestructive: boolean
  readonly expand: boolean
  readonly dryRun: boolean
  readonly status: boolean
}

function addMigrate(program: Command): void {
  addOverrides(program.command('migrate'), ['--database'])
    .description('apply all migration steps in one transaction, including slow ones, which a start refuses')
    .argument(...folderArgument)
    .option('--allow-destructive', 'also drop tables and columns that the project no longer declares', false)
    .option('--expand', 'apply only backward-compatible (expand) steps', false)
    .option('--dry-run', 'print the plan; the exit code says whether it would be applied', false)
    .option('--status', 'show the migration history', false)
    .option('--json', 'one line of JSON for programs', false)
    .action(async (folder: string, { dryRun, status, ...options }: MigrateOptions) => {
      const { runMigrate, runRehearsal, runStatus } = await import('./migrate.ts')
      const run = status ? runStatus : dryRun ? runRehearsal : runMigrate
      process.exitCode = await run({ ...(await commandContext(folder)), ...options })
    })
}

interface DoctorOptions {
  readonly log?: string
  readonly json: boolean
  readonly analyze: boolean
  readonly try: boolean
  readonly documents?: string
  readonly files: boolean
  readonly remove: boolean
}

/** `plinth doctor` */
function addDoctor(program: Command): void {
  addOverrides(program.command('doctor'), ['--database'])
    .description(
      'diagnose the project, its database and the slow reads in its log, with advice; exit code 1 if there is a fault',
    )
    .argument(...folderArgument)
    .option('--log <file>', 'the JSON log of a server; `-` is standard input')
    .option('--analyze', 'execute slow reads (EXPLAIN ANALYZE) instead of only planning them', false)
    .option('--try', 'create each proposed index on small tables, measure, and roll back', false)
    .option(
      '--documents <dir>',
      'check the GraphQL documents of a folder, in files and in code, against the schema and the limits instead, without a database',
    )
    .option('--files', 'list stored files of uploads that no record names, older than a day, instead', false)
    .option('--remove', 'with --files: remove what is listed', false)
    .option('--json', 'one line of JSON for programs', false)
    .action(async (folder: string, { try: tries, documents, files, remove, ...options }: DoctorOptions) => {
      if (files) {
        const { runFileCheck } = await import('./doctor-files.ts')
        const context = { ...(await commandContext(folder)), json: options.json, removes: remove }
        process.exitCode = await runFileCheck(context)
        return
      }
      if (remove) program.error('error: --remove removes what --files lists: name both', { exitCode: 1 })
      if (documents !== undefined) {
        const { runDocumentCheck } = await import('./doctor.ts')
        const context = { ...(await commandContext(folder)), documents, json: options.json }
        process.exitCode = await runDocumentCheck(context)
        return
      }
      const { runDoctor } = await import('./doctor.ts')
      const input = () => process.stdin.setEncoding('utf8')
      process.exitCode = await runDoctor({ ...(await commandContext(folder)), ...options, tries, input })
    })
}

interface UserOptions {
  readonly folder: string
  readonly json: boolean
}

/** `plinth user` and what is under it. */
function addUser(program: Command): void {
  const user = program.command('user').description('list and change the users of a project in its database')
  const add = (usage: string, description: string): Command =>
    addOverrides(user.command(usage), ['--database'])
      .description(description)
      .option('--folder <folder>', 'the folder of project.yaml', '.')
      .option('--json', 'one line of JSON for programs', false)

  add('list', 'list users by name, with role and state')
    .option('--role <role>', 'only users of this role')
    .option('--blocked', 'only blocked users', false)
    .action((options: UserOptions & { role?: string; blocked: boolean }) =>
      changeUser(options, { kind: 'list', role: options.role ?? null, blocked: options.blocked }),
    )
  add('add', 'create a confirmed user; a generated password is printed once')
    .argument('<username>')
    .argument('<email>')
    .option('--role <role>', 'the role; default: that of registration')
    .option('--password-stdin', 'read the password from the first line of standard input', false)
    .action(
      (username: string, email: string, options: UserOptions & { role?: string; passwordStdin: boolean }) =>
        changeUser(options, {
          ...{ kind: 'add', username, email, role: options.role ?? null },
          readsPassword: options.passwordStdin,
        }),
    )
  add('role', 'give a user another role')
    .argument('<who>', 'a username or mail address')
    .argument('<role>')
    .action((who: string, role: string, options: UserOptions) =>
      changeUser(options, { kind: 'role', who, role }),
    )
  add('block', 'block a user: sessions and API keys are refused at once')
    .argument('<who>', 'a username or mail address')
    .action((who: string, options: UserOptions) => changeUser(options, { kind: 'block', who }))
  add('unblock', 'let a blocked user in again')
    .argument('<who>', 'a username or mail address')
    .action((who: string, options: UserOptions) => changeUser(options, { kind: 'unblock', who }))
}

async function changeUser({ folder, json }: UserOptions, change: UserChange): Promise<void> {
  const { runUser } = await import('./user.ts')
  const context = await commandContext(folder)
  process.exitCode = await runUser({ ...context, json, input: () => process.stdin }, change)
}
