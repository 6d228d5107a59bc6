import type { Command } from 'commander'
import { addOverrides, commandContext } from '../command-terms.ts'
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
    const terms = await rolesTerms(folder, options)
    process.exitCode = await runRoles(terms, { roles: options.role, types: options.type })
  })
  addExplain(roles)
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
      process.exitCode = await runDiff(await rolesTerms(folder, options), ref)
    })
}

interface ExplainOptions {
  readonly user: boolean
  readonly json: boolean
  readonly folder: string
}

function addExplain(roles: Command): void {
  addOverrides(roles.command('explain'), ['--database'])
    .description('explain whether a role or user may do something, with the deciding line, condition and SQL')
    .argument('<who>', 'a role or API token, or the name or mail address of a user in the database')
    .argument('<action>', 'find, findOne, create, update, …')
    .argument('<type>', 'a content-type, or users, auth, upload, i18n, role')
    .argument('[field]', 'one attribute, also through relations and components: author.name')
    .option('--folder <folder>', 'the folder of project.yaml', '.')
    .option('--user', '<who> is a user, even if a role has this name', false)
    .option('--json', 'one line of JSON for programs', false)
    .action(
      async (
        who: string,
        action: string,
        type: string,
        field: string | undefined,
        options: ExplainOptions,
      ) => {
        const { runExplain } = await import('./roles-explain.ts')
        const terms = await rolesTerms(options.folder, options)
        process.exitCode = await runExplain(terms, { who, action, type, field, isUser: options.user })
      },
    )
}

const collect = (one: string, before: readonly string[]): readonly string[] => [...before, one]

const rolesTerms = async (folder: string, { json }: Pick<Options, 'json'>): Promise<RolesContext> => ({
  ...(await commandContext(folder)),
  form: json ? 'json' : 'text',
})
