import { didYouMean } from '../../base/nearest.ts'
import { walkGraph } from '../../base/walk-graph.ts'
import type { Path } from '../../faults/diagnostic.ts'
import type { AttributeDeclaration, ScalarDeclaration } from '../../project/settings/declarations.ts'
import {
  attributeName,
  attributeNamed,
  attributePath,
  type Declarations,
  type DeclaredAttribute,
  type DeclaredComponent,
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

/** Every component that an attribute uses must exist. */
export function* knownComponents(declarations: Declarations): Generator<ModelFinding> {
  for (const { holder, name, declaration } of declaredAttributes(declarations)) {
    if (declaration.type === 'component') {
      yield* known(declaration.component, attributePath(holder, name, 'component'), declarations)
    }
    if (declaration.type !== 'dynamiczone') continue
    for (const [index, uid] of declaration.components.entries()) {
      const path = attributePath(holder, name, 'components', index)
      yield* known(uid, path, declarations)
    }
  }
}

function* known(uid: string, path: Path, { componentsByUid }: Declarations): Generator<ModelFinding> {
  if (componentsByUid.has(uid)) return
  const near = didYouMean(uid, componentsByUid.keys())
  yield { code: 'unknown-component', message: `unknown component \`${uid}\`${near}`, path }
}

interface Use {
  readonly attribute: string
  readonly component: DeclaredComponent
}

/** A component that contains itself, directly or indirectly, could never be written. Each cycle is reported once. */
export function* componentCycles(declarations: Declarations): Generator<ModelFinding> {
  const usedBy = (component: DeclaredComponent) => usesOf(component, declarations).map(use => use.component)
  for (const members of walkGraph(declarations.components, usedBy).cycles) {
    const [first, last] = [members[0], members.at(-1)]
    const use = last && usesOf(last, declarations).find(({ component }) => component === first)
    if (last && use) yield cycle(members, last, use)
  }
}

function cycle(members: readonly DeclaredComponent[], last: DeclaredComponent, use: Use): ModelFinding {
  const names = [...members, use.component].map(({ uid }) => `\`${uid}\``)
  return {
    code: 'component-cycle',
    message: `components contain each other in a cycle: ${names.join(' → ')}`,
    path: attributePath(last, use.attribute),
  }
}

function usesOf(component: DeclaredComponent, { componentsByUid }: Declarations): readonly Use[] {
  return Object.entries(component.attributes).flatMap(([attribute, declaration]) =>
    usedComponents(declaration).flatMap(uid => {
      const used = componentsByUid.get(uid)
      return used ? [{ attribute, component: used }] : []
    }),
  )
}

function usedComponents(declaration: AttributeDeclaration): readonly string[] {
  if (declaration.type === 'component') return [declaration.component]
  return declaration.type === 'dynamiczone' ? declaration.components : []
}

/** The values of an enumeration are distinct, and its default is one of them. */
export function* enumerations(declarations: Declarations): Generator<ModelFinding> {
  for (const attribute of declaredAttributes(declarations)) {
    const { declaration } = attribute
    if (declaration.type !== 'enumeration') continue
    yield* checkValues(attribute, declaration)
    yield* checkDefault(attribute, declaration)
  }
}

/** Longer values could be declared, but never stored. */
const LONGEST_VALUE = 255

function* checkValues(
  { holder, name }: DeclaredAttribute,
  { enum: values = [] }: ScalarDeclaration,
): Generator<ModelFinding> {
  const path = attributePath(holder, name, 'enum')
  const declared = new Set(values.map(({ value }) => value))
  const seen = new Set<string>()
  for (const [index, { value, renamedFrom }] of values.entries()) {
    const message = `the value \`${value}\` is given twice`
    if (seen.has(value)) yield { code: 'enumeration', message, path: [...path, index] }
    seen.add(value)
    if (value.length > LONGEST_VALUE) {
      const tooLong = `the value has ${value.length} characters; an enumeration's have at most ${LONGEST_VALUE}`
      yield { code: 'enumeration', message: tooLong, path: [...path, index] }
    }
    if (/\0|\p{Surrogate}/u.test(value)) {
      const unstorable = 'the value must not hold the character NUL or half of a surrogate pair'
      yield { code: 'enumeration', message: unstorable, path: [...path, index] }
    }
    if (renamedFrom === undefined || !declared.has(renamedFrom)) continue
    const still = `\`${value}\` cannot be renamed from \`${renamedFrom}\`, which is still a value`
    yield { code: 'renamed-from', message: still, path: [...path, index, 'renamedFrom'] }
  }
}

function* checkDefault(
  { holder, name }: DeclaredAttribute,
  declaration: ScalarDeclaration,
): Generator<ModelFinding> {
  const values = declaration.enum?.map(({ value }) => value) ?? []
  for (const key of ['default', 'backfill'] as const) {
    const input = declaration[key]
    if (input === undefined || input === null || (typeof input === 'string' && values.includes(input)))
      continue
    const message = `\`${String(input)}\` is not one of the values${didYouMean(String(input), values)}`
    yield { code: 'enumeration', message, path: attributePath(holder, name, key) }
  }
}
