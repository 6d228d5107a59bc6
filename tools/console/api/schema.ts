import { asList, asText, isJsonObject, type JsonRecord, type JsonValue } from './json.ts'

/** One attribute that the caller may read or write: `x-plinth` of the OpenAPI document. */
export interface AttributeInfo {
  readonly name: string
  readonly type: string
  readonly readable: boolean
  readonly writable: boolean
  readonly required: boolean
  readonly localized: boolean
  readonly repeatable: boolean
  readonly multiple: boolean
  readonly targetField: string | null
  readonly component: string | null
  readonly components: readonly string[]
  readonly relation: string | null
  readonly target: string | null
  readonly values: readonly string[]
  readonly allowedTypes: readonly string[]
  readonly min: number | string | null
  readonly max: number | string | null
  readonly minLength: number | null
  readonly maxLength: number | null
}

export interface ConsoleLayout {
  readonly label: string | null
  readonly columns: readonly string[]
  readonly groups: readonly { readonly title: string; readonly attributes: readonly string[] }[]
  readonly help: Readonly<Record<string, string>>
  readonly hidden: readonly string[]
  readonly preview: string | null
}

export interface TypeInfo {
  readonly uid: string
  readonly kind: 'collectionType' | 'singleType'
  readonly singularName: string
  readonly pluralName: string
  /** Below the prefix of the API: `/articles`. */
  readonly path: string
  readonly displayName: string
  readonly draftAndPublish: boolean
  readonly localized: boolean
  readonly actions: ReadonlySet<string>
  readonly layout: ConsoleLayout
  readonly attributes: readonly AttributeInfo[]
}

/** The types, attributes and actions of the caller's role, from the OpenAPI document. */
export interface ApiSchema {
  readonly name: string
  readonly locales: readonly string[]
  readonly defaultLocale: string | null
  readonly views: readonly string[]
  readonly upload: boolean
  readonly types: readonly TypeInfo[]
  /** Targets of relations only: no form edits users. null: the caller may not find them. */
  readonly users: TypeInfo | null
  readonly components: ReadonlyMap<string, readonly AttributeInfo[]>
}

/** `x-plinth` of the OpenAPI document (docs/rest.md, "OpenAPI"). */
export function readSchema(document: JsonValue): ApiSchema {
  const root = recordOf(recordOf(document)['x-plinth'])
  return {
    name: asText(root.name) || 'Plinth',
    locales: texts(root.locales),
    defaultLocale: asText(root.defaultLocale) || null,
    views: texts(root.views),
    upload: isJsonObject(root.upload),
    types: asList(root.types).filter(isJsonObject).map(readType),
    users: isJsonObject(root.users) ? readType(root.users) : null,
    components: new Map(
      asList(root.components)
        .filter(isJsonObject)
        .map(component => [asText(component.uid), attributesOf(component)]),
    ),
  }
}

const attributesOf = (holder: JsonRecord): readonly AttributeInfo[] =>
  asList(holder.attributes).filter(isJsonObject).map(readAttribute)

const readAttribute = (info: JsonRecord): AttributeInfo => ({
  name: asText(info.name),
  type: asText(info.type),
  readable: info.readable === true,
  writable: info.writable === true,
  required: info.required === true,
  localized: info.localized === true,
  repeatable: info.repeatable === true,
  multiple: info.multiple === true,
  targetField: asText(info.targetField) || null,
  component: asText(info.component) || null,
  components: texts(info.components),
  relation: asText(info.relation) || null,
  target: asText(info.target) || null,
  values: texts(info.enum),
  allowedTypes: texts(info.allowedTypes),
  min: boundOf(info.min),
  max: boundOf(info.max),
  minLength: typeof info.minLength === 'number' ? info.minLength : null,
  maxLength: typeof info.maxLength === 'number' ? info.maxLength : null,
})

function readType(info: JsonRecord): TypeInfo {
  const singularName = asText(info.singularName)
  const pluralName = asText(info.pluralName) || singularName
  const single = info.kind === 'singleType'
  return {
    uid: asText(info.uid),
    kind: single ? 'singleType' : 'collectionType',
    singularName,
    pluralName,
    path: asText(info.path) || `/${single ? singularName : pluralName}`,
    displayName: asText(info.displayName) || toLabel(single ? singularName : pluralName),
    draftAndPublish: info.draftAndPublish === true,
    localized: info.localized === true,
    actions: new Set(texts(info.actions)),
    layout: readLayout(info.console),
    attributes: attributesOf(info),
  }
}

function readLayout(value: JsonValue | undefined): ConsoleLayout {
  const info = isJsonObject(value) ? value : {}
  return {
    label: asText(info.label) || null,
    columns: texts(info.columns),
    groups: asList(info.groups).map(group => ({
      title: asText(recordOf(group).label),
      attributes: texts(recordOf(group).attributes),
    })),
    help: Object.fromEntries(Object.entries(recordOf(info.help)).map(([name, help]) => [name, asText(help)])),
    hidden: texts(info.hidden),
    preview: asText(info.preview) || null,
  }
}

/** A relation's target type by its singular name or uid; undefined: the caller may not find it. */
export const findType = ({ types, users }: ApiSchema, name: string | null): TypeInfo | undefined =>
  (users === null ? types : [...types, users]).find(type => type.singularName === name || type.uid === name)

/** The name of the attribute that labels a document in lists and pickers; null: use its documentId. */
export function labelOf(type: TypeInfo): string | null {
  const texts = type.attributes.filter(({ readable, type: kind }) => readable && TEXTUAL.has(kind))
  const names = [type.layout.label, 'title', 'name', 'label', 'headline']
  const named = names.find(name => texts.some(attribute => attribute.name === name))
  return named ?? texts[0]?.name ?? null
}

const TEXTUAL: ReadonlySet<string> = new Set(['string', 'text', 'uid', 'email', 'enumeration'])

/** `visitedOn` → `Visited on`. */
export function toLabel(name: string): string {
  const spaced = name.replaceAll(/[-_.]/g, ' ').replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
  const lower = spaced.toLowerCase()
  return lower.charAt(0).toUpperCase() + lower.slice(1)
}

const recordOf = (value: JsonValue | undefined): JsonRecord => (isJsonObject(value) ? value : {})
const texts = (value: JsonValue | undefined): readonly string[] => asList(value).map(asText)
const boundOf = (value: JsonValue | undefined): number | string | null =>
  typeof value === 'number' || typeof value === 'string' ? value : null
