import { RESERVED_ATTRIBUTES, RESERVED_KEYS } from '../../core/model/check/reserved-names.ts'
import { toSnakeCase } from '../../core/model/names.ts'
import { toKebabCase } from './convert/to-holder.ts'
import { textAt } from './read/literal-value.ts'
import type { StrapiHolder, StrapiProject, StrapiType } from './read/strapi-project.ts'

/** The names in Plinth, with reasons where Strapi's name could not be kept. */
export interface Names {
  /** By uid. */
  readonly types: ReadonlyMap<string, TypeNames>
  /** Strapi's uid of a component → Plinth's. */
  readonly components: ReadonlyMap<string, string>
}

export interface TypeNames {
  readonly key: string
  readonly pluralApiId: string
  readonly tableName: string | undefined
  readonly notes: readonly string[]
}

export function nameAll({ contentTypes, components }: StrapiProject): Names {
  const apiIds = new Set(RESERVED_KEYS)
  const tables = new Set<string>()
  const uids = new Set<string>()
  return {
    types: new Map(contentTypes.map(type => [type.uid, nameType(type, apiIds, tables)])),
    components: new Map(components.map(({ uid }) => [uid, free(componentUid(uid), uids)])),
  }
}

/** Reserves the name, or the next free one with a number. */
function free(wanted: string, taken: Set<string>): string {
  let name = wanted
  for (let count = 2; taken.has(name); count++) name = `${wanted}-${count}`
  taken.add(name)
  return name
}

function nameType(type: StrapiType, apiIds: Set<string>, tables: Set<string>): TypeNames {
  const key = apiId(type.singularName, apiIds)
  const isSingle = textAt(type.schema, 'kind') === 'singleType'
  const pluralApiId = isSingle ? toKebabCase(type.pluralName) : apiId(type.pluralName, apiIds)
  return {
    key,
    pluralApiId,
    tableName: tableName(type, pluralApiId, tables),
    notes: [
      ...(key === type.singularName
        ? []
        : [`\`${type.singularName}\` in Strapi: the name is taken in Plinth`]),
      ...(isSingle || pluralApiId === type.pluralName
        ? []
        : [
            `Strapi served it under \`/${type.pluralName}\`: the name is taken in Plinth, where it is \`/${pluralApiId}\``,
          ]),
    ],
  }
}

function apiId(name: string, taken: Set<string>): string {
  const kebab = startingWithLetter(toKebabCase(name))
  return free(taken.has(kebab) ? `own-${kebab}` : kebab, taken)
}

const startingWithLetter = (name: string): string => (/^[a-z]/.test(name) ? name : `a-${name}`)

const componentUid = (uid: string): string =>
  uid.split('.').map(toKebabCase).map(startingWithLetter).join('.')

const TABLE = /^(?!plinth_|pg_|components_)[a-z][a-z0-9_]{0,49}$/

/** Strapi's table name, if it differs from Plinth's default and is valid. */
function tableName(type: StrapiType, pluralApiId: string, taken: Set<string>): string | undefined {
  const ours = toSnakeCase(pluralApiId)
  const wanted = type.collectionName
  const kept = TABLE.test(wanted) && !taken.has(wanted) ? wanted : ours
  taken.add(kept)
  return kept === ours ? undefined : kept
}

/** Strapi's attribute name, or the nearest valid one. */
export function freeAttributeName(name: string): string {
  const letters = name.replace(/[^A-Za-z0-9_]/g, '_').replace(/^(?![A-Za-z])/, 'a')
  return RESERVED_ATTRIBUTES.has(letters) ? `${letters}_` : letters
}

/** Built-in user attributes of Strapi, which Plinth has as well. */
const OF_EVERY_USER: ReadonlySet<string> = new Set([
  'username',
  'email',
  'provider',
  'password',
  'resetPasswordToken',
  'confirmationToken',
  'confirmed',
  'blocked',
  'role',
])

/** The user attributes that the project added. */
export const ownUserAttributes = (user: StrapiHolder | null): StrapiHolder['attributes'] =>
  new Map([...(user?.attributes ?? [])].filter(([name]) => !OF_EVERY_USER.has(name)))
