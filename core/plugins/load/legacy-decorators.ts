import { existsSync, readFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { diagnoseModule } from './find-modules.ts'
import { ModuleFault } from './module-fault.ts'

interface TransformedModule {
  /** Absolute. */
  readonly file: string
  readonly source: string
  readonly code: string
}

/**
 * The code of a module. Throws for decorators unless the project chooses those of `experimentalDecorators`. The loader knows no
 * others: it calls a standard decorator with other arguments, and ignores the function that it returns.
 */
export function withLegacyDecorators(root: string, { file, source, code }: TransformedModule): string {
  if (!source.includes('@') || !TRANSFORMED.test(code) || TRANSFORMED.test(source)) return code
  // Without `reflect-metadata`, this default would replace the descriptor of a decorated method by its class.
  if (isExperimental(root)) return code.replaceAll('|| ((t) => t)', '|| (() => {})')
  const lines = source.split(/\r?\n/)
  const at = lines.findIndex(line => DECORATOR.test(line))
  const text = lines[at] ?? ''
  throw new ModuleFault(
    diagnoseModule('bad-module', MESSAGE, {
      file: relative(root, file).split(sep).join('/'),
      ...(at !== -1 && { line: at + 1, column: text.indexOf('@') + 1, source: text }),
    }),
  )
}

const MESSAGE =
  'standard decorators are not supported: call the function instead, or set `experimentalDecorators` in tsconfig.json for those of TypeScript'

/** What the transformation makes of decorators. */
const TRANSFORMED = /\(_class\d* = class\b|\b_applyDecoratedDescriptor\(|experimental syntax 'decorator/

const DECORATOR = /^[^'"`*/]*@\w/

function isExperimental(root: string): boolean {
  const file = join(root, 'tsconfig.json')
  return existsSync(file) && /"experimentalDecorators"\s*:\s*true/.test(readFileSync(file, 'utf8'))
}
