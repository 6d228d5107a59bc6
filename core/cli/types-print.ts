import type { Attribute, Component, ContentType, Holder, Model } from '../model/model.ts'
import { isRequiredOnCreate, printEnd, printInput, printValue, quote } from './types-attributes.ts'

/** What a project's types are made of: what it declares, and the names of what lies beside it. */
export interface TypesTerms {
  readonly model: Model
  readonly policies: readonly string[]
  readonly middlewares: readonly string[]
}

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
    ...block('interface Policies', policies.map(nothingKnown)),
    ...block('interface Middlewares', middlewares.map(nothingKnown)),
  ]
  return [HEAD, ...block("declare module 'plinth'", body), ''].join('\n')
}

/** Their configs are checked when they are loaded. */
const nothingKnown = (name: string): string => `${quote(name)}: unknown`

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
    return type === null ? [] : [...noteOf(attribute), `${keyOf(attribute.name)}${mark}: ${type}`]
  })

const attributesOf = ({ attributes }: Holder): readonly Attribute[] => [...attributes.values()]

const noteOf = (attribute: Attribute): readonly string[] =>
  attribute.private ? ['/** Private: for the code of the server alone. */'] : []

const keyOf = (name: string): string => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : quote(name))

function block(head: string, lines: readonly string[]): readonly string[] {
  if (lines.length === 0) return [head.endsWith(':') ? `${head} object` : `${head} {}`]
  return [`${head} {`, ...lines.map(line => `  ${line}`), '}']
}
