import { attributePath, attributesOf, type Declarations } from '../declarations.ts'
import type { Finding } from './finding.ts'

export function* regexes(declarations: Declarations): Generator<Finding> {
  for (const { holder, name, declaration } of attributesOf(declarations)) {
    if (!('regex' in declaration) || declaration.regex === undefined) continue
    const reason = whyNot(declaration.regex)
    if (reason !== undefined)
      yield { code: 'regex', message: reason, path: attributePath(holder, name, 'regex') }
  }
}

function whyNot(pattern: string): string | undefined {
  try {
    new RegExp(pattern)
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
