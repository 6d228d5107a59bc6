import { didYouMean } from '../../base/nearest.ts'
import type { ScalarDeclaration } from '../../project/settings/declarations.ts'
import {
  attributePath,
  type Declarations,
  type DeclaredAttribute,
  declaredAttributes,
} from '../declarations.ts'
import type { ModelFinding } from './finding.ts'

/** The values of an enumeration are distinct, and its default is one of them. */
export function* enumerations(declarations: Declarations): Generator<ModelFinding> {
  for (const attribute of declaredAttributes(declarations)) {
    const { declaration } = attribute
    if (declaration.type !== 'enumeration') continue
    yield* checkValues(attribute, declaration)
    yield* checkDefault(attribute, declaration)
  }
}

function* checkValues(
  { holder, name }: DeclaredAttribute,
  { enum: values = [] }: ScalarDeclaration,
): Generator<ModelFinding> {
  const path = attributePath(holder, name, 'enum')
  const seen = new Set<string>()
  for (const [index, { value, renamedFrom }] of values.entries()) {
    const message = `the value \`${value}\` is given twice`
    if (seen.has(value)) yield { code: 'enumeration', message, path: [...path, index] }
    seen.add(value)
    if (renamedFrom === undefined || !values.some(other => other.value === renamedFrom)) continue
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
    const given = declaration[key]
    if (given === undefined || given === null || (typeof given === 'string' && values.includes(given)))
      continue
    const message = `\`${String(given)}\` is not one of the values${didYouMean(String(given), values)}`
    yield { code: 'enumeration', message, path: attributePath(holder, name, key) }
  }
}
