import type { Command } from 'commander'
import { addOverrides, commandContext } from './command-terms.ts'

const folderArgument = ['[folder]', 'the folder of project.yaml', '.'] as const

interface DoctorOptions {
  readonly log?: string
  readonly json: boolean
  readonly analyze: boolean
  readonly try: boolean
  readonly documents?: string
}

/** `plinth doctor` */
export function addDoctor(program: Command): void {
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
      'check the .graphql and .gql files of a folder against the schema and the limits instead, without a database',
    )
    .option('--json', 'one line of JSON for programs', false)
    .action(async (folder: string, { try: tries, documents, ...options }: DoctorOptions) => {
      if (documents !== undefined) {
        const { runDocumentCheck } = await import('./doctor-documents.ts')
        const terms = { ...(await commandContext(folder)), documents, json: options.json }
        process.exitCode = await runDocumentCheck(terms)
        return
      }
      const { runDoctor } = await import('./doctor.ts')
      const input = () => process.stdin.setEncoding('utf8')
      process.exitCode = await runDoctor({ ...(await commandContext(folder)), ...options, tries, input })
    })
}
