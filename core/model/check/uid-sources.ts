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
      ? `\`${attributeName(holder, name)}\` is to be generated, but has no \`targetField\``
      : undefined
  }
  const source = attributeNamed(holder, targetField)
  if (source === undefined) {
    return `unknown attribute \`${targetField}\`${didYouMean(targetField, Object.keys(holder.attributes))}`
  }
  if (TEXTUAL.has(source.type)) return undefined
  return `\`${attributeName(holder, targetField)}\` is of type ${source.type}: a uid is made from a text`
}
