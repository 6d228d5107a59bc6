import { trimCharacter } from '../base/text.ts'
import type { Component, ContentType } from './model.ts'
import { toCamelCase, toPascalCase } from './names.ts'

/** The names of contract/graphql.md 1. They stand here because two types whose names would meet are a fault of the model. */
type Named =
  | Pick<ContentType, 'holder' | 'uid' | 'key' | 'pluralApiId' | 'builtIn'>
  | Pick<Component, 'holder' | 'uid'>

type NamedType = Extract<Named, { readonly holder: 'content-type' }>

/** `Article`, `UsersPermissionsUser`, `ComponentSharedSeo`. */
export function graphqlTypeName(holder: Named): string {
  if (holder.holder === 'component') return `Component${toPascalCase(holder.uid)}`
  return pluginOf(holder) + toPascalCase(holder.key)
}

/** `plugin::users-permissions.user` → `UsersPermissions`; nothing for a project's own. */
const pluginOf = ({ uid, builtIn }: NamedType): string =>
  builtIn ? toPascalCase(uid.slice('plugin::'.length, uid.indexOf('.'))) : ''

/** `article` and `articles`, `i18NLocale` and `i18NLocales`. */
export function graphqlQueryNames(type: NamedType): { readonly one: string; readonly many: string } {
  const plugin = pluginOf(type)
  const name = (id: string) => {
    const pascal = plugin + toPascalCase(id)
    return plugin === '' ? toCamelCase(id) : pascal.charAt(0).toLowerCase() + pascal.slice(1)
  }
  return { one: name(type.key), many: name(type.pluralApiId) }
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

/** The object and input types that a content-type may bring along. */
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

/** A value of an enumeration as GraphQL can write it: `two words` → `two_words`, `été` → `ete`. */
export function graphqlEnumValue(value: string): string {
  const plain = value.normalize('NFD').replace(/\p{Mark}/gu, '')
  const name = trimCharacter(plain.replace(/[^A-Za-z0-9_]+/g, '_'), '_') || '_'
  if (/^[0-9]/.test(name)) return `_${name}`
  return ['true', 'false', 'null'].includes(name) ? `${name}_` : name
}
