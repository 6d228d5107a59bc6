import type { Command } from 'commander'
import { termsOf } from './command-terms.ts'

const folderArgument = ['[folder]', 'the folder of project.yaml', '.'] as const

/** `plinth export`. */
export function addTransfer(program: Command): void {
  program
    .command('export')
    .description('write documents as a stream of lines (NDJSON) that `plinth import` reads')
    .argument(...folderArgument)
    .requiredOption('--out <file>', 'where to; `-` is the standard output')
    .option('--types <types>', 'these content-types alone, by key or uid, with commas between', split)
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
  readonly passwordHashes: boolean
}

const split = (words: string): readonly string[] =>
  words
    .split(',')
    .map(word => word.trim())
    .filter(word => word !== '')
