import type { Diagnostic, Path } from '../../core/faults/diagnostic.ts'
import { RESERVED_ATTRIBUTES, RESERVED_KEYS } from '../../core/model/check/reserved-names.ts'
import { toSnakeCase } from '../../core/model/names.ts'
import { toKebabCase } from './convert/to-holder.ts'
import { scriptPlace, textAt } from './read/literal-value.ts'
import type { StrapiHolder, StrapiProject, StrapiType } from './read/strapi-project.ts'
import { lost, type Note } from './yaml-document.ts'

/** The names in Plinth, with reasons where Strapi's name could not be kept. */
export interface Names {
  /** By uid. */
  readonly types: ReadonlyMap<string, TypeNames>
  /** Strapi's uid of a component → Plinth's. */
  readonly components: ReadonlyMap<string, string>
  /** Strapi's uid of a holder → the name of each of its attributes → Plinth's. */
  readonly attributes: ReadonlyMap<string, ReadonlyMap<string, string>>
}

/** Names that `plinth check` refuses: another one is taken for the next conversion. */
export interface RefusedNames {
  /** Content-types and components by uid, with the number of refused names. */
  readonly holders: ReadonlyMap<string, number>
  /** Attributes as `uid name`. */
  readonly attributes: ReadonlyMap<string, number>
  /** Content-types whose table name is another one's. */
  readonly tables: ReadonlySet<string>
}

export const NONE_REFUSED: RefusedNames = { holders: new Map(), attributes: new Map(), tables: new Set() }

/** Plinth's name of an attribute. */
export const attributeNameIn = (names: Names, uid: string, name: string): string =>
  names.attributes.get(uid)?.get(name) ?? freeAttributeName(name)

export interface TypeNames {
  readonly key: string
  readonly pluralApiId: string
  readonly tableName: string | undefined
  readonly notes: readonly Note[]
}

export function nameAll(project: StrapiProject, refused: RefusedNames = NONE_REFUSED): Names {
  const { contentTypes, components, user } = project
  const apiIds = new Set(RESERVED_KEYS)
  const tables = new Set<string>()
  const uids = new Set<string>()
  const holders = [...contentTypes, ...components, ...(user === null ? [] : [user])]
  return {
    types: new Map(contentTypes.map(type => [type.uid, nameType(type, { apiIds, tables, refused })])),
    components: new Map(
      components.map(({ uid }) => [uid, free(numbered(componentUid(uid), refused.holders.get(uid)), uids)]),
    ),
    attributes: new Map(holders.map(holder => [holder.uid, nameAttributes(holder, refused)])),
  }
}

/** The name, or `name-2` if one name was refused. */
const numbered = (name: string, count = 0, separator = '-'): string =>
  count === 0 ? name : `${name.slice(0, 50)}${separator}${count + 1}`

/** Names that stay are taken before others get theirs. */
function nameAttributes(
  { uid, attributes }: StrapiHolder,
  { attributes: refused }: RefusedNames,
): ReadonlyMap<string, string> {
  const wanted = [...attributes.keys()].map((name): readonly [string, string] => {
    const declared = uid === USER && OF_EVERY_USER.has(name) ? name : freeAttributeName(name)
    return [name, numbered(declared, refused.get(`${uid} ${name}`), '_')]
  })
  const taken = new Set(wanted.flatMap(([name, ours]) => (name === ours ? [name] : [])))
  return new Map(wanted.map(([name, ours]) => [name, name === ours ? name : free(ours, taken, '_')]))
}

const USER = 'plugin::users-permissions.user'

/** Reserves the name, or the next free one with a number. */
export function free(wanted: string, taken: Set<string>, separator = '-'): string {
  let name = wanted
  for (let count = 2; taken.has(name); count++) name = `${wanted}${separator}${count}`
  taken.add(name)
  return name
}

interface TypeNaming {
  readonly apiIds: Set<string>
  readonly tables: Set<string>
  readonly refused: RefusedNames
}

function nameType(type: StrapiType, { apiIds, tables, refused }: TypeNaming): TypeNames {
  const count = refused.holders.get(type.uid)
  const key = apiId(numbered(type.singularName, count), apiIds)
  const isSingle = textAt(type.schema, 'kind') === 'singleType'
  const wanted = numbered(type.pluralName, count)
  const pluralApiId = isSingle ? toKebabCase(wanted) : apiId(wanted, apiIds)
  const renamed = (theirs: string, ours: string, text: string): readonly Note[] =>
    theirs === ours ? [] : [lost(text, scriptPlace(type.schema, 'info') ?? type.file)]
  return {
    key,
    pluralApiId,
    tableName: refused.tables.has(type.uid) ? undefined : tableName(type, pluralApiId, tables),
    notes: [
      ...renamed(
        type.singularName,
        key,
        `\`${type.singularName}\` in Strapi: ${whyNoApiId(type.singularName)}`,
      ),
      ...(isSingle
        ? []
        : renamed(
            type.pluralName,
            pluralApiId,
            `Strapi served it under \`/${type.pluralName}\`: ${whyNoApiId(type.pluralName)}; here it is \`/${pluralApiId}\``,
          )),
    ],
  }
}

const TAKEN = 'the name is taken in Plinth'

const whyNoApiId = (name: string): string =>
  startingWithLetter(toKebabCase(name)) === name ? TAKEN : 'a name in Plinth is in kebab-case'

/** Why an attribute has another name in Plinth. */
export const whyRenamed = (name: string): string =>
  validAttributeName(name) === name
    ? TAKEN
    : `a name in Plinth begins with a letter from a to z, has only such letters, digits and \`_\`, and at most ${LONGEST_NAME} characters`

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

/** Names of columns are longer, as links have a suffix. */
const LONGEST_NAME = 50

const validAttributeName = (name: string): string =>
  name
    .replace(/[^A-Za-z0-9_]/g, '_')
    .replace(/^(?![A-Za-z])/, 'a')
    .slice(0, LONGEST_NAME)

/** Strapi's attribute name, or the nearest valid one. */
function freeAttributeName(name: string): string {
  const letters = validAttributeName(name)
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

interface Naming {
  readonly names: Names
  readonly refused: RefusedNames
}

/** The refused names with those of further faults of names; the same object if no fault is of the Strapi project's names. */
export function refusedNames(
  faults: readonly Diagnostic[],
  project: StrapiProject,
  { names, refused }: Naming,
): RefusedNames {
  const holders = new Map(refused.holders)
  const attributes = new Map(refused.attributes)
  const tables = new Set(refused.tables)
  const found = faults.flatMap(({ code, path }) => ({ code, at: placeOfName(path, project, names) ?? [] }))
  for (const {
    code,
    at: [uid, attribute],
  } of found) {
    if (uid === undefined) continue
    if (attribute !== undefined)
      attributes.set(`${uid} ${attribute}`, (attributes.get(`${uid} ${attribute}`) ?? 0) + 1)
    else if (code === 'table-clash' && !tables.has(uid)) tables.add(uid)
    else holders.set(uid, (holders.get(uid) ?? 0) + 1)
  }
  return found.some(({ at }) => at.length > 0) ? { holders, attributes, tables } : refused
}

/** Strapi's uid of the holder that a path of the project file is in, and the name of the attribute. */
function placeOfName(
  [section, key, inner, last]: Path,
  project: StrapiProject,
  names: Names,
): readonly string[] | undefined {
  const find = (entries: Iterable<readonly [string, string]>, ours: unknown): string | undefined =>
    [...entries].find(([, each]) => each === ours)?.[0]
  const types = [...names.types].map(([uid, type]) => [uid, type.key] as const)
  const uid =
    section === 'user'
      ? project.user?.uid
      : section === 'components'
        ? find(names.components, key)
        : find(types, key)
  const attribute = section === 'user' ? inner : last
  if (uid === undefined || (section !== 'user' && section !== 'components' && section !== 'contentTypes'))
    return undefined
  const theirs = attribute === undefined ? undefined : find(names.attributes.get(uid) ?? [], attribute)
  return theirs === undefined ? [uid] : [uid, theirs]
}
