import type { Command } from 'commander'
import { termsOf } from './command-terms.ts'

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
