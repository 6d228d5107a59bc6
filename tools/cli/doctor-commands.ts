import type { Command } from 'commander'
import { termsOf } from './command-terms.ts'

const folderArgument = ['[folder]', 'the folder of project.yaml', '.'] as const

interface DoctorOptions {
  readonly log?: string
  readonly json: boolean
  readonly analyze: boolean
  readonly try: boolean
}

/** `plinth doctor` */
export function addDoctor(program: Command): void {
  program
    .command('doctor')
    .description(
      'look at a project, its database and what its log says of slow reads, and tell what would make them faster or safer; exit code 1 where something is wrong',
    )
    .argument(...folderArgument)
    .option('--log <file>', 'the log of a server, in JSON; `-` is the standard input')
    .option('--analyze', 'run slow reads, not only plan them', false)
    .option('--try', 'make each index that is proposed, where the table is small, and take it back', false)
    .option('--json', 'one line of JSON for programs', false)
    .action(async (folder: string, { try: tries, ...options }: DoctorOptions) => {
      const { runDoctor } = await import('./doctor.ts')
      const input = () => process.stdin.setEncoding('utf8')
      process.exitCode = await runDoctor({ ...(await termsOf(folder)), ...options, tries, input })
    })
}
