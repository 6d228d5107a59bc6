import { attributePath, type Declarations, declaredAttributes } from '../declarations.ts'
import type { ModelFinding } from './finding.ts'

export function* regexes(declarations: Declarations): Generator<ModelFinding> {
  for (const { holder, name, declaration } of declaredAttributes(declarations)) {
    if (!('regex' in declaration) || declaration.regex === undefined) continue
    const reason = regexFault(declaration.regex)
    if (reason !== undefined)
      yield { code: 'regex', message: reason, path: attributePath(holder, name, 'regex') }
  }
}

function regexFault(pattern: string): string | undefined {
  try {
    new RegExp(pattern)
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
