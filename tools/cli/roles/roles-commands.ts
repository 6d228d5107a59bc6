import type { Command } from 'commander'
import { addOverrides, commandContext } from '../command-options.ts'
import type { RolesContext } from './roles-output.ts'

interface Options {
  readonly json: boolean
}

/** `plinth roles` and what is under it. */
export function addRoles(program: Command): void {
  // Without this, options of subcommands would be parsed as options of `roles`.
  program.enablePositionalOptions()
  const roles = program
    .command('roles')
    .enablePositionalOptions()
    .description('show the permissions of all roles, with the deciding lines of the project file')
    .argument('[folder]', 'the folder of project.yaml', '.')
    .option('--role <role>', 'only this role or API token; may be repeated', collect, [])
    .option('--type <type>', 'only this content-type or subject; may be repeated', collect, [])
    .option('--json', 'one line of JSON for programs', false)
  roles.action(async (folder: string, options: Options & { role: string[]; type: string[] }) => {
    const { runRoles } = await import('./roles.ts')
    const terms = await rolesOptions(folder, options)
    process.exitCode = await runRoles(terms, { roles: options.role, types: options.type })
  })
  addExplain(roles)
  addWho(roles)
  addDiff(roles)
}

function addDiff(roles: Command): void {
  roles
    .command('diff')
    .description('show the permissions granted and revoked since a commit; exit code 2 if any is granted')
    .argument('<git-ref>', 'a branch, a tag, a commit: main, HEAD~1')
    .argument('[folder]', 'the folder of project.yaml', '.')
    .option('--json', 'one line of JSON for programs', false)
    .action(async (ref: string, folder: string, options: Options) => {
      const { runDiff } = await import('./roles-diff.ts')
      process.exitCode = await runDiff(await rolesOptions(folder, options), ref)
    })
}

interface ExplainOptions {
  readonly user: boolean
  readonly json: boolean
  readonly folder: string
  readonly request?: string
  readonly as?: string
  readonly body?: string
}

function addExplain(roles: Command): void {
  addOverrides(roles.command('explain'), ['--database'])
    .description('explain whether a role or user may do something, with the deciding line, condition and SQL')
    .argument('[who]', 'a role or API token, or the name or mail address of a user in the database')
    .argument('[action]', 'find, findOne, create, update, …')
    .argument('[type]', 'a content-type, or users, auth, upload, i18n, role')
    .argument('[field]', 'one attribute, also through relations and components: author.name')
    .option('--request <request>', "a request instead of an action: 'POST /api/reviews'")
    .option('--as <who>', 'who sends the request: a role, an API token, or a user')
    .option('--body <json>', 'the body of the request')
    .option('--folder <folder>', 'the folder of project.yaml', '.')
    .option('--user', '<who> is a user, even if a role has this name', false)
    .option('--json', 'one line of JSON for programs', false)
    .action(async (...input: [...(string | undefined)[], ExplainOptions, Command]) => {
      const command = input.at(-1) as Command
      const words = command.args
      const options = command.opts<ExplainOptions>()
      const terms = await rolesOptions(options.folder, options)
      process.exitCode =
        options.request === undefined
          ? await explainAction(command, terms, { words, isUser: options.user })
          : await explainRequest(command, terms, { ...options, request: options.request, words })
    })
}

async function explainAction(
  command: Command,
  options: RolesContext,
  { words: [who, action, type, field], isUser }: { words: readonly string[]; isUser: boolean },
): Promise<0 | 1 | 2> {
  if (who === undefined || action === undefined || type === undefined)
    command.error("error: give <who> <action> <type>, or --request 'POST /api/reviews' --as <who>")
  const { runExplain } = await import('./roles-explain.ts')
  return runExplain(options, { who, action, type, field, isUser })
}

async function explainRequest(
  command: Command,
  options: RolesContext,
  { words, request, as: who, body, user }: ExplainOptions & { request: string; words: readonly string[] },
): Promise<0 | 1 | 2> {
  if (words.length > 0) command.error('error: --request takes the place of <who> <action> <type>')
  if (who === undefined) command.error('error: --request needs --as <who>: a role, an API token, or a user')
  const { runExplainRequest } = await import('./roles-request.ts')
  return runExplainRequest(options, { request, who, body, isUser: user })
}

function addWho(roles: Command): void {
  roles
    .command('who')
    .description('list the roles and API tokens that may do something, with the deciding lines')
    .argument('<action>', 'find, findOne, create, update, …')
    .argument('<type>', 'a content-type, or users, auth, upload, i18n, role')
    .argument('[folder]', 'the folder of project.yaml', '.')
    .option('--json', 'one line of JSON for programs', false)
    .action(async (action: string, type: string, folder: string, options: Options) => {
      const { runWho } = await import('./roles.ts')
      process.exitCode = await runWho(await rolesOptions(folder, options), { action, type })
    })
}

const collect = (one: string, before: readonly string[]): readonly string[] => [...before, one]

const rolesOptions = async (folder: string, { json }: Pick<Options, 'json'>): Promise<RolesContext> => ({
  ...(await commandContext(folder)),
  form: json ? 'json' : 'text',
})
