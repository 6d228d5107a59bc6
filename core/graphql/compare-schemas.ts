import {
  type BreakingChange,
  DangerousChangeType,
  type DefinitionNode,
  findBreakingChanges,
  findDangerousChanges,
  isTypeDefinitionNode,
  isTypeExtensionNode,
} from 'graphql'
import type { ContentType, Holder, Model } from '../model/model.ts'
import {
  graphqlEnumName,
  graphqlMutationNames,
  graphqlQueryNames,
  graphqlTypeName,
  graphqlWrapperNames,
  graphqlZoneName,
} from '../model/names.ts'
import type { GraphqlSettings } from '../project/settings/settings.ts'
import {
  type CompiledSchema,
  type CompiledSchemas,
  type CompileOptions,
  compileGenerated,
} from './compile-schema.ts'
import type { FormatName } from './formats/format.ts'
import { MORPH_UNION } from './sdl/attribute-fields.ts'

/** A change of the generated schema that clients may notice. */
export interface SchemaChange {
  /** The path of an endpoint of both versions. */
  readonly endpoint: string
  readonly level: 'breaking' | 'risky' | 'safe'
  /** `Article.title was removed.` */
  readonly message: string
  /** What the changed part of the schema is generated from, in each version; null: nothing there. */
  readonly was: SchemaSource | null
  readonly now: SchemaSource | null
}

/** A content-type or component, an attribute of it, or what an extension adds. */
export type SchemaSource =
  | { readonly holder: Holder; readonly attribute: string | null }
  /** `extension`: `extensions/search`; `name`: of the type or field. */
  | { readonly extension: string; readonly name: string }

interface SchemaVersion {
  readonly model: Model
  readonly settings: GraphqlSettings
  /** With the parts of extensions; null or absent: they add nothing. */
  readonly schemas?: CompiledSchemas | null
  /** What extensions disable. */
  readonly shadow?: CompileOptions['shadow']
}

/** The changes of the generated schemas between two versions of a project, for each endpoint that both serve in one format. */
export function compareSchemas(before: SchemaVersion, after: SchemaVersion): readonly SchemaChange[] {
  if (!before.settings.enabled || !after.settings.enabled) return []
  return Object.entries(before.settings.endpoints).flatMap(([endpoint, format]) => {
    if (after.settings.endpoints[endpoint] !== format) return []
    const [old, now] = [compileVersion(before, format), compileVersion(after, format)]
    const [oldSources, newSources] = [schemaSources(before.model, old), schemaSources(after.model, now)]
    const toChange =
      (level: SchemaChange['level']) =>
      ({ description }: { readonly description: string }): SchemaChange => ({
        ...{ endpoint, level, message: description },
        was: sourceOf(description, oldSources),
        now: sourceOf(description, newSources),
      })
    return [
      ...findBreakingChanges(old.schema, now.schema).map(toChange('breaking')),
      ...findDangerousChanges(old.schema, now.schema)
        .filter(change => !UNNOTICED.has(change.type) && !isFileless(change, newSources))
        .map(toChange('risky')),
      ...additions(oldSources, newSources).map(name => toChange('safe')({ description: `${name} is new.` })),
    ]
  })
}

const compileVersion = (version: SchemaVersion, format: FormatName): CompiledSchema =>
  version.schemas?.get(format) ?? compileGenerated({ ...version, format })

/** The fields that extensions add. */
const additions = (old: Sources, now: Sources): readonly string[] =>
  [...now].flatMap(([name, source]) =>
    'extension' in source && name.includes('.') && !old.has(name) ? [name] : [],
  )

/** Optional inputs change no request that clients send today. */
const UNNOTICED: ReadonlySet<DangerousChangeType> = new Set([
  DangerousChangeType.OPTIONAL_ARG_ADDED,
  DangerousChangeType.OPTIONAL_INPUT_FIELD_ADDED,
])

type Described = Pick<BreakingChange, 'description'>

/** A type without files joined the union of what files may be used in: no answer contains it. */
function isFileless({ description }: Described, sources: Sources): boolean {
  const [, added = '', union] = /^(\w+) was added to union type (\w+)\.$/.exec(description) ?? []
  const source = sources.get(added)
  const holder = source && 'holder' in source ? source.holder : null
  return (
    union === MORPH_UNION && !!holder && ![...holder.attributes.values()].some(({ kind }) => kind === 'media')
  )
}

/** By `<Type>.<field>` and by the name of a type. */
type Sources = ReadonlyMap<string, SchemaSource>

/** graphql-js names the coordinate in the text of a change only. The longest known one is the most precise. */
function sourceOf(description: string, sources: Sources): SchemaSource | null {
  const [, field, type] = /\bfield (\w+) on input type (\w+)/.exec(description) ?? []
  const names = type === undefined ? (description.match(/\w+(?:\.\w+)?/g) ?? []) : [`${type}.${field}`, type]
  const found = names.flatMap(name => sources.get(name) ?? sources.get(name.split('.')[0] ?? '') ?? [])
  return found.find(each => 'extension' in each || each.attribute !== null) ?? found[0] ?? null
}

const schemaSources = ({ contentTypes, components }: Model, { extension }: CompiledSchema): Sources =>
  new Map([
    ...[...contentTypes.values(), ...components.values()].flatMap(sourcesOf),
    ...(extension?.definitions ?? []).flatMap(({ by, document }) =>
      by === null ? [] : document.definitions.flatMap(node => addedSources(by, node)),
    ),
  ])

/** The types and fields of an extension; not those that it only extends. */
function addedSources(by: string, node: DefinitionNode): readonly (readonly [string, SchemaSource])[] {
  if (!isTypeDefinitionNode(node) && !isTypeExtensionNode(node)) return []
  const { value } = node.name
  const fields = 'fields' in node ? (node.fields ?? []) : []
  const own = isTypeDefinitionNode(node) && !ROOTS.has(value) ? [[value, value] as const] : []
  return [...own, ...fields.map(({ name }) => [`${value}.${name.value}`, name.value] as const)].map(
    ([coordinate, name]) => [coordinate, { extension: by, name }] as const,
  )
}

const ROOTS: ReadonlySet<string> = new Set(['Query', 'Mutation'])

function sourcesOf(holder: Holder): readonly (readonly [string, SchemaSource])[] {
  const name = graphqlTypeName(holder)
  const { input, filters, ...wrappers } = graphqlWrapperNames(name)
  const own: SchemaSource = { holder, attribute: null }
  const roots = holder.holder === 'component' ? [] : rootNames(holder)
  const attributes = [...holder.attributes.values()].flatMap(attribute => {
    if (attribute.system) return []
    const source: SchemaSource = { holder, attribute: attribute.name }
    const zone = graphqlZoneName(name, attribute.name)
    const fields = [name, input, filters].flatMap(type => [
      `${type}.${attribute.name}`,
      `${type}.${attribute.name}_connection`,
    ])
    return [...fields, graphqlEnumName(name, attribute.name), zone, `${zone}Input`].map(
      each => [each, source] as const,
    )
  })
  return [
    ...[name, input, filters, ...Object.values(wrappers), ...roots].map(each => [each, own] as const),
    ...attributes,
  ]
}

const rootNames = (type: ContentType): readonly string[] => [
  ...Object.values(graphqlQueryNames(type)).map(field => `Query.${field}`),
  ...Object.values(graphqlMutationNames(type)).map(field => `Mutation.${field}`),
]
