import { readFileSync } from 'node:fs'
import type { Diagnostic } from '../../faults/diagnostic.ts'
import { diagnoseModule } from '../plugin-fault.ts'
import type { PluginModule } from './find-modules.ts'

/** What a module threw while it was loaded, at the line of it that did. */
export function moduleError(
  { file, shown }: Pick<PluginModule, 'file' | 'shown'>,
  error: unknown,
): Diagnostic {
  const { message, stack } = textsOf(error)
  const [, line, column] = new RegExp(`${quoted(file)}:(\\d+):(\\d+)`).exec(`${message}\n${stack}`) ?? []
  const said =
    message
      .split('\n')[0]
      ?.replace(/^\w*Error: /, '')
      .trim() || 'it throws something that is no error'
  const source = line === undefined ? '' : lineOf(file, Number(line))
  return diagnoseModule('bad-module', `the module cannot be loaded: ${said}`, {
    file: shown,
    line: Number(line ?? 1),
    // What was thrown outside the module's own lines has a column of the code that was made of it.
    column: Number(column ?? 1) <= source.length ? Number(column ?? 1) : 1,
    source,
  })
}

const textsOf = (error: unknown): { message: string; stack: string } =>
  error instanceof Error ? { message: error.message, stack: error.stack ?? '' } : { message: '', stack: '' }

const quoted = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

const lineOf = (file: string, line: number): string =>
  readFileSync(file, 'utf8').split(/\r?\n/)[line - 1] ?? ''
