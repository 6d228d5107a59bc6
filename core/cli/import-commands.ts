import type { Command } from 'commander'
import { termsOf } from './command-terms.ts'

interface StrapiOptions {
  readonly out: string
  readonly force: boolean
  readonly json: boolean
}

/** `plinth import strapi`. */
export function addImportStrapi(parent: Command): void {
  parent
    .command('strapi')
    .description('make project.yaml of a Strapi 4 or 5 project, with comments on what has no counterpart')
    .argument('<dir>', 'the folder of the Strapi project, with its package.json')
    .option('--out <folder>', 'where project.yaml goes', '.')
    .option('--force', 'put it in the place of one that is there', false)
    .option('--json', 'one line of JSON for programs', false)
    .action(async (dir: string, options: StrapiOptions) => {
      const { runImportStrapi } = await import('./import-strapi.ts')
      process.exitCode = await runImportStrapi({ ...(await termsOf(options.out)), ...options, dir })
    })
}
