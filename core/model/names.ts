import pluralize from 'pluralize'
import type { Component, ContentType } from './model.ts'

/** Splits a name into words: `bigThing`, `big-thing` and `big_thing` have the same ones; digits are separate words. */
const splitWords = (name: string): readonly string[] => name.match(/[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+/g) ?? []

const capitalised = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1).toLowerCase()

export const toPascalCase = (name: string): string => splitWords(name).map(capitalised).join('')

export function toCamelCase(name: string): string {
  const [first = '', ...rest] = splitWords(name)
  return first.toLowerCase() + rest.map(capitalised).join('')
}

/** `metaTitle` → `meta_title`, `HTMLParts` → `html_parts`; digits and underscores are unchanged. */
export const toSnakeCase = (name: string): string =>
  name
    .replace(/([A-Z])(?=[A-Z][a-z])/g, '$1_')
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/[-.]/g, '_')
    .toLowerCase()

/** The English plural of the last word of a kebab-case key. */
export function toPlural(key: string): string {
  const last = key.lastIndexOf('-') + 1
  return key.slice(0, last) + pluralize(key.slice(last))
}

/** `article` → `Article`, `big-thing` → `Big thing`. */
export function toTitle(key: string): string {
  const text = key.replaceAll('-', ' ')
  return text.charAt(0).toUpperCase() + text.slice(1)
}

/** The names of reference/graphql.md#1-names. They are in this module because a name collision is an error of the model. */
type GraphqlNamed =
  | Pick<ContentType, 'holder' | 'uid' | 'key' | 'pluralApiId' | 'builtIn'>
  | Pick<Component, 'holder' | 'uid'>

type NamedType = Extract<GraphqlNamed, { readonly holder: 'content-type' }>

/** `Article`, `UsersPermissionsUser`, `ComponentSharedSeo`. */
export function graphqlTypeName(holder: GraphqlNamed): string {
  if (holder.holder === 'component') return `Component${toPascalCase(holder.uid)}`
  return pluginName(holder) + toPascalCase(holder.key)
}

/** `plugin::users-permissions.user` → `UsersPermissions`; empty for a project's own types. */
const pluginName = ({ uid, builtIn }: NamedType): string =>
  builtIn ? toPascalCase(uid.slice('plugin::'.length, uid.indexOf('.'))) : ''

/** `article`, `articles` and `articles_connection`; `i18NLocale`, `i18NLocales`, … */
export function graphqlQueryNames(type: NamedType) {
  const plugin = pluginName(type)
  const name = (id: string) => {
    const pascal = plugin + toPascalCase(id)
    return plugin === '' ? toCamelCase(id) : pascal.charAt(0).toLowerCase() + pascal.slice(1)
  }
  const many = name(type.pluralApiId)
  return { one: name(type.key), many, connection: `${many}_connection` } as const
}

/** `createArticle`, …, and for localized types `createArticleLocalization`. */
export function graphqlMutationNames(type: NamedType) {
  const name = graphqlTypeName(type)
  return {
    create: `create${name}`,
    update: `update${name}`,
    delete: `delete${name}`,
    localize: `create${name}Localization`,
  } as const
}

/** The object and input types that a content-type may add to the schema. */
export function graphqlWrapperNames(name: string) {
  return {
    entity: `${name}Entity`,
    response: `${name}EntityResponse`,
    collection: `${name}EntityResponseCollection`,
    relation: `${name}RelationResponseCollection`,
    input: `${name}Input`,
    filters: `${name}FiltersInput`,
  } as const
}

/** `ENUM_ARTICLE_KIND`. */
export const graphqlEnumName = (typeName: string, attribute: string): string =>
  `ENUM_${typeName.toUpperCase()}_${attribute.toUpperCase()}`

/** `ArticleBlocksDynamicZone`; its input is called `…Input`. */
export const graphqlZoneName = (typeName: string, attribute: string): string =>
  `${typeName}${toPascalCase(attribute)}DynamicZone`
