import type { Attribute, Component, ContentType, Holder, Model } from '../../../core/model/model.ts'
import type { PluginSchema } from '../../../core/plugins/plugin-module.ts'
import {
  isRequiredOnCreate,
  printEnd,
  printInput,
  printPropertyName,
  printSchema,
  printValue,
  quote,
} from './types-schema.ts'

/** The input of the generated types: the project's declarations and its plugins. */
export interface TypesTerms {
  readonly model: Model
  readonly policies: TypesInput
  readonly middlewares: TypesInput
}

/** The schema of a plugin's configuration by its name; undefined if it has none. */
export type TypesInput = ReadonlyMap<string, PluginSchema | undefined>

const HEAD = `// Written by \`plinth types\` from project.yaml: to change it, change that and run it again.
import type { Link, LinkInput, Part, PartInput, Zone, ZoneInput } from 'plinth'
`

/** The text of .plinth/types.d.ts. */
export function printTypes({ model, policies, middlewares }: TypesTerms): string {
  const types = [...model.contentTypes.values()].flatMap(printType)
  const components = [...model.components.values()].flatMap(printComponent)
  const body = [
    ...block('interface ContentTypes', types),
    ...block('interface Components', components),
    ...block('interface Policies', printGiven(policies)),
    ...block('interface Middlewares', printGiven(middlewares)),
  ]
  return [HEAD, ...block("declare module 'plinth'", body), ''].join('\n')
}

const printGiven = (given: TypesInput): readonly string[] =>
  Array.from(given, ([name, schema]) => `${quote(name)}: ${printSchema(schema)}`)

function printType(type: ContentType): readonly string[] {
  const required = attributesOf(type).filter(attribute => isRequiredOnCreate(attribute, type))
  const names = required.map(({ name }) => quote(name)).join(' | ')
  return block(`${quote(type.uid)}:`, [
    `key: ${quote(type.key)}`,
    `kind: ${quote(type.kind)}`,
    ...printHolder(type),
    `required: ${names === '' ? 'never' : names}`,
  ])
}

const printComponent = (component: Component): readonly string[] =>
  block(`${quote(component.uid)}:`, printHolder(component))

function printHolder(holder: Holder): readonly string[] {
  return [
    ...block('fields:', printEach(holder, printValue)),
    ...block('populate:', printEach(holder, printEnd)),
    ...block('input:', printEach(holder, printInput, '?')),
  ]
}

type PrintAttribute = (attribute: Attribute, holder: Holder) => string | null

const printEach = (holder: Holder, print: PrintAttribute, mark = ''): readonly string[] =>
  attributesOf(holder).flatMap(attribute => {
    const type = print(attribute, holder)
    return type === null ? [] : [...noteOf(attribute), `${printPropertyName(attribute.name)}${mark}: ${type}`]
  })

const attributesOf = ({ attributes }: Holder): readonly Attribute[] => [...attributes.values()]

const noteOf = (attribute: Attribute): readonly string[] =>
  attribute.private ? ['/** Private: for the code of the server alone. */'] : []

function block(head: string, lines: readonly string[]): readonly string[] {
  if (lines.length === 0) return [head.endsWith(':') ? `${head} object` : `${head} {}`]
  return [`${head} {`, ...lines.map(line => `  ${line}`), '}']
}
