import { didYouMean } from '../../base/nearest.ts'
import {
  attributeName,
  attributeNamed,
  attributePath,
  type Declarations,
  type DeclaredHolder,
  declaredAttributes,
} from '../declarations.ts'
import type { ModelFinding } from './finding.ts'

const TEXTUAL: ReadonlySet<string> = new Set(['string', 'text', 'richtext', 'email', 'enumeration'])

/** The source of a uid must be a text attribute of the same holder. */
export function* uidSources(declarations: Declarations): Generator<ModelFinding> {
  for (const { holder, name, declaration } of declaredAttributes(declarations)) {
    if (declaration.type !== 'uid') continue
    const message = faultOf(holder, name, declaration)
    const key = declaration.targetField === undefined ? 'generate' : 'targetField'
    if (message !== undefined) yield { code: 'uid-source', message, path: attributePath(holder, name, key) }
  }
}

function faultOf(
  holder: DeclaredHolder,
  name: string,
  { targetField, generate }: { readonly targetField?: string; readonly generate?: boolean },
): string | undefined {
  if (targetField === undefined) {
    return generate
      ? `\`${attributeName(holder, name)}\` cannot be generated without a \`targetField\``
      : undefined
  }
  const source = attributeNamed(holder, targetField)
  if (source === undefined) {
    return `unknown attribute \`${targetField}\`${didYouMean(targetField, Object.keys(holder.attributes))}`
  }
  if (TEXTUAL.has(source.type)) return undefined
  return `\`${attributeName(holder, targetField)}\` is of type ${source.type}: a uid is generated from a text attribute`
}

/** Relations and uids of a localized type always have a value per locale (reference/documents.md#2-shared-attributes). */
export function* alwaysLocalized(declarations: Declarations): Generator<ModelFinding> {
  for (const { holder, name, declaration } of declaredAttributes(declarations)) {
    const always = declaration.type === 'relation' || declaration.type === 'uid'
    if (!always || !holder.localized || declaration.localized !== false) continue
    yield {
      code: 'always-localized',
      message: `\`${attributeName(holder, name)}\` cannot be shared by all locales: a ${declaration.type} always has one value per locale`,
      path: attributePath(holder, name, 'localized'),
    }
  }
}

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
