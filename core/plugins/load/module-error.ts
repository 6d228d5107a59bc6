import { readFileSync } from 'node:fs'
import type { Diagnostic } from '../../faults/diagnostic.ts'
import { diagnoseModule } from '../plugin-fault.ts'
import type { PluginModule } from './find-modules.ts'

/** Diagnostic for an error while a module was loaded, at the line that threw it. */
export function moduleError(
  { file, shown }: Pick<PluginModule, 'file' | 'shown'>,
  error: unknown,
): Diagnostic {
  const { message, stack } = errorTexts(error)
  const [, line, column] =
    new RegExp(`${escapeRegExp(file)}:(\\d+):(\\d+)`).exec(`${message}\n${stack}`) ?? []
  const reason =
    message
      .split('\n')[0]
      ?.replace(/^\w*Error: /, '')
      .trim() || 'it throws something that is no error'
  const source = line === undefined ? '' : sourceLine(file, Number(line))
  return diagnoseModule('bad-module', `the module cannot be loaded: ${reason}`, {
    file: shown,
    line: Number(line ?? 1),
    // A column beyond the line refers to the transformed code.
    column: Number(column ?? 1) <= source.length ? Number(column ?? 1) : 1,
    source,
  })
}

const errorTexts = (error: unknown): { message: string; stack: string } =>
  error instanceof Error ? { message: error.message, stack: error.stack ?? '' } : { message: '', stack: '' }

const escapeRegExp = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

const sourceLine = (file: string, line: number): string =>
  readFileSync(file, 'utf8').split(/\r?\n/)[line - 1] ?? ''
