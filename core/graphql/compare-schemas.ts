import { type BreakingChange, DangerousChangeType, findBreakingChanges, findDangerousChanges } from 'graphql'
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
import { compileGenerated } from './compile-schema.ts'
import { MORPH_UNION } from './sdl/attribute-fields.ts'

/** A change of the generated schema that clients may notice. */
export interface SchemaChange {
  /** The path of an endpoint of both versions. */
  readonly endpoint: string
  readonly level: 'breaking' | 'risky'
  /** `Article.title was removed.` */
  readonly message: string
  /** What the changed part of the schema is generated from, in each version; null: nothing there. */
  readonly was: SchemaSource | null
  readonly now: SchemaSource | null
}

/** A content-type or component, or an attribute of it. */
export interface SchemaSource {
  readonly holder: Holder
  readonly attribute: string | null
}

interface SchemaVersion {
  readonly model: Model
  readonly settings: GraphqlSettings
}

/** The changes of the generated schemas between two versions of a project, for each endpoint that both serve in one format. */
export function compareSchemas(before: SchemaVersion, after: SchemaVersion): readonly SchemaChange[] {
  if (!before.settings.enabled || !after.settings.enabled) return []
  const [oldSources, newSources] = [schemaSources(before.model), schemaSources(after.model)]
  return Object.entries(before.settings.endpoints).flatMap(([endpoint, format]) => {
    if (after.settings.endpoints[endpoint] !== format) return []
    const [old, now] = [before, after].map(version => compileGenerated({ ...version, format }).schema)
    if (!old || !now) return []
    const toChange =
      (level: SchemaChange['level']) =>
      ({ description }: { readonly description: string }): SchemaChange => ({
        ...{ endpoint, level, message: description },
        was: sourceOf(description, oldSources),
        now: sourceOf(description, newSources),
      })
    return [
      ...findBreakingChanges(old, now).map(toChange('breaking')),
      ...findDangerousChanges(old, now)
        .filter(change => !UNNOTICED.has(change.type) && !isFileless(change, newSources))
        .map(toChange('risky')),
    ]
  })
}

/** Optional inputs change no request that clients send today. */
const UNNOTICED: ReadonlySet<DangerousChangeType> = new Set([
  DangerousChangeType.OPTIONAL_ARG_ADDED,
  DangerousChangeType.OPTIONAL_INPUT_FIELD_ADDED,
])

type Described = Pick<BreakingChange, 'description'>

/** A type without files joined the union of what files may be used in: no answer contains it. */
function isFileless({ description }: Described, sources: Sources): boolean {
  const [, added = '', union] = /^(\w+) was added to union type (\w+)\.$/.exec(description) ?? []
  const holder = sources.get(added)?.holder
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
  return found.find(({ attribute }) => attribute !== null) ?? found[0] ?? null
}

const schemaSources = ({ contentTypes, components }: Model): Sources =>
  new Map([...contentTypes.values(), ...components.values()].flatMap(sourcesOf))

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
