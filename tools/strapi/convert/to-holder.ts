import { trimCharacter } from '../../../core/base/text.ts'
import {
  isMapping,
  type LiteralMapping,
  type LiteralValue,
  mappingAt,
  textAt,
  UNKNOWN_KEYS,
} from '../read/literal-value.ts'
import type { StrapiHolder, StrapiType } from '../read/strapi-project.ts'

export function toHolder(uid: string, file: string, schema: LiteralMapping): StrapiHolder {
  const attributes = [...mappingAt(schema, 'attributes')].flatMap(
    ([name, declared]): readonly [string, LiteralMapping][] =>
      isMapping(declared) ? [[name, declared]] : [],
  )
  return {
    uid,
    file,
    collectionName: textAt(schema, 'collectionName') ?? textAt(schema, 'info', 'singularName') ?? uid,
    schema,
    attributes: new Map(attributes),
  }
}

interface FoundType {
  /** Whose content-type it is. */
  readonly owner: 'api' | 'plugin'
  /** The API or plugin. */
  readonly api: string
  readonly name: string
  readonly file: string
  readonly schema: LiteralMapping
}

/** Strapi derives a content-type's uid from folders, and its routes from `info`. */
export function toType({ owner, api, name, file, schema }: FoundType): StrapiType {
  const singularName = textAt(schema, 'info', 'singularName') ?? toKebabCase(name)
  const pluralName = textAt(schema, 'info', 'pluralName') ?? singularName
  // Strapi's GraphQL names types of plugins with their plugin: `FormBuilderBuiltForm`.
  const prefix = owner === 'plugin' ? `${toKebabCase(api)}-` : ''
  return {
    ...toHolder(`${owner}::${toKebabCase(api)}.${toKebabCase(name)}`, file, schema),
    api,
    singularName: `${prefix}${singularName}`,
    pluralName: `${prefix}${pluralName}`,
  }
}

/** `BlogPost`, `blog_post` and `blog post` → `blog-post`. A name that is in kebab-case stays. */
export const toKebabCase = (name: string): string =>
  trimCharacter(
    name
      .replace(/([a-z0-9])([A-Z])/g, '$1-$2')
      .replace(/([A-Z])(?=[A-Z][a-z])/g, '$1-')
      .replace(/[^A-Za-z0-9]+/g, '-'),
    '-',
  ).toLowerCase()

/** The attributes of Strapi's content-types that projects extend. Users are read by themselves. */
const OF_STRAPI: ReadonlyMap<string, readonly string[]> = new Map([
  [
    'plugin::upload.file',
    [
      ...['name', 'alternativeText', 'caption', 'focalPoint', 'width', 'height', 'formats', 'hash', 'ext'],
      ...['mime', 'size', 'url', 'previewUrl', 'provider', 'provider_metadata', 'related', 'folder'],
      'folderPath',
    ],
  ],
  ['plugin::users-permissions.role', ['name', 'description', 'type', 'permissions', 'users']],
  ['plugin::i18n.locale', ['name', 'code']],
])

const STAMPS = /^(?:createdAt|updatedAt|publishedAt|createdBy|updatedBy|locale|localizations)$/

export const isExtended = (uid: string): boolean => OF_STRAPI.has(uid)

/** What a project adds to a content-type of Strapi. */
export const addedAttributes = (uid: string, schema: LiteralValue | undefined): readonly string[] =>
  [...mappingAt(schema, 'attributes').keys()].filter(
    name => !OF_STRAPI.get(uid)?.includes(name) && !STAMPS.test(name) && !name.startsWith(UNKNOWN_KEYS),
  )
