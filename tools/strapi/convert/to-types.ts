import { ticked } from '../../../core/base/text.ts'
import { toPlural, toTitle } from '../../../core/model/names.ts'
import { morphColumns } from '../field-mapping.ts'
import { attributeNameIn, type Names, ownUserAttributes, whyRenamed } from '../names.ts'
import {
  codeAt,
  isMapping,
  type LiteralMapping,
  mappingAt,
  scriptPlace,
  textAt,
  textsAt,
  valueAt,
} from '../read/literal-value.ts'
import type { StrapiFacts } from '../read/read-facts.ts'
import type { StrapiHolder, StrapiProject, StrapiType } from '../read/strapi-project.ts'
import { namesOf } from '../strapi-names.ts'
import {
  type DocumentEntry,
  entry,
  flow,
  type GivenNote,
  lost,
  type Note,
  section,
} from '../yaml-document.ts'
import { codeNotes } from './code-notes.ts'
import { type StrapiAttributeContext, toAttribute } from './to-attribute.ts'
import { routerNotes } from './to-routes.ts'

/** The sections `components`, `contentTypes` and `user`. */
export function toTypes(
  project: StrapiProject,
  names: Names,
  facts: StrapiFacts | null,
): readonly (DocumentEntry | undefined)[] {
  const options: TypeOptions = {
    project,
    names,
    hidden: textsAt(project.config.api, 'responses', 'privateAttributes'),
    tablesOf: tableFacts(project, facts),
  }
  const components = project.components.flatMap(component => toComponent(component, options))
  const types = project.contentTypes.flatMap(type => toContentType(type, options))
  const user = toAttributes(ownUserAttributes(project.user), plain(USER, 'up_users', options))
  return [
    section('components', components),
    section('contentTypes', types),
    section('user', [
      user.entries.length + user.left.length === 0 ? undefined : attributes(user, project.user?.file),
    ]),
  ]
}

const USER = 'plugin::users-permissions.user'

type TableFacts = Pick<StrapiAttributeContext, 'columnType' | 'hasLinks'>

/** The columns of a holder's table and its tables of links, if Strapi's database is available. */
function tableFacts(
  { version }: StrapiProject,
  facts: StrapiFacts | null,
): (collectionName: string) => TableFacts {
  const names = namesOf(version)
  const hasColumn = (table: string, column: string): boolean =>
    facts?.tables.get(table)?.some(({ name }) => name === column) ?? false
  return collectionName => {
    const table = names.table(collectionName)
    return {
      columnType: attribute =>
        facts?.tables.get(table)?.find(({ name }) => name === names.column(attribute))?.type,
      hasLinks: (attribute, declared) =>
        textAt(declared, 'relation') === 'morphToOne'
          ? hasColumn(table, morphColumns(declared).id)
          : [names.links(table, attribute), names.morphs(table, attribute)].some(each =>
              facts?.tables.has(each),
            ),
    }
  }
}

const plain = (
  uid: string,
  collectionName: string,
  { names, tablesOf }: TypeOptions,
): StrapiAttributeContext => ({
  names,
  uid,
  localized: false,
  hidden: new Set(),
  ...tablesOf(collectionName),
})

function toComponent(component: StrapiHolder, options: TypeOptions): readonly DocumentEntry[] {
  const uid = options.names.components.get(component.uid)
  if (uid === undefined) return []
  const displayName =
    textAt(component.schema, 'info', 'displayName') ?? textAt(component.schema, 'info', 'name')
  const converted = toAttributes(
    component.attributes,
    plain(component.uid, component.collectionName, options),
  )
  const title = toTitle(uid.split('.')[1] ?? '')
  const found = section(
    uid,
    [
      flow('displayName', displayName === title ? undefined : displayName),
      flow('description', textAt(component.schema, 'info', 'description') || undefined),
      attributes(converted, component.file),
    ],
    [...(uid === component.uid ? [] : [`\`${component.uid}\` in Strapi`]), ...unreadAttributes(component)],
  )
  return found === undefined ? [] : [{ ...found, source: component.file }]
}

interface TypeOptions {
  readonly project: StrapiProject
  readonly names: Names
  /** Attributes that config/api makes private in all types. */
  readonly hidden: readonly string[]
  readonly tablesOf: (collectionName: string) => TableFacts
}

export const isLocalized = ({ schema }: StrapiType): boolean =>
  valueAt(schema, 'pluginOptions', 'i18n', 'localized') === true

export const hasDrafts = ({ schema }: StrapiType): boolean =>
  valueAt(schema, 'options', 'draftAndPublish') === true

function toContentType(
  type: StrapiType,
  { project, names, hidden, tablesOf }: TypeOptions,
): readonly DocumentEntry[] {
  const named = names.types.get(type.uid)
  if (named === undefined) return []
  const { schema } = type
  const localized = isLocalized(type)
  const isSingle = textAt(schema, 'kind') === 'singleType'
  const displayName = textAt(schema, 'info', 'displayName')
  const secret = new Set([...hidden, ...textsAt(schema, 'options', 'privateAttributes')])
  const converted = toAttributes(type.attributes, {
    names,
    uid: type.uid,
    localized,
    hidden: secret,
    ...tablesOf(type.collectionName),
  })
  const isUsual = isSingle || named.pluralApiId === toPlural(named.key)
  const found = section(
    named.key,
    [
      flow('kind', isSingle ? 'single' : undefined),
      flow('pluralApiId', isUsual ? undefined : named.pluralApiId),
      flow('displayName', displayName === toTitle(named.key) ? undefined : displayName || undefined),
      flow('description', textAt(schema, 'info', 'description') || undefined),
      flow('draftAndPublish', hasDrafts(type) ? true : undefined),
      flow('localized', localized ? true : undefined),
      flow('tableName', named.tableName),
      attributes(converted, type.file),
    ],
    [
      ...named.notes,
      ...refNotes(type, named.key),
      ...unreadAttributes(type),
      ...typeNotes(type, secret),
      ...routerNotes(project, type.uid),
      ...codeNotes(project, type.uid),
    ],
  )
  return found === undefined ? [] : [{ ...found, source: type.file }]
}

/** A content-type's uid has the name of its API in Strapi, and its own name twice in Plinth. */
function refNotes({ uid, file, attributes }: StrapiType, key: string): readonly Note[] {
  const ours = `api::${key}.${key}`
  const hasFiles = [...attributes.values()].some(each => textAt(each, 'type') === 'media')
  return uid === ours || !hasFiles
    ? []
    : [lost(`uploads of Strapi with \`ref=${uid}\` have \`ref=${ours}\` here`, file)]
}

/** Attributes that code adds to a schema. */
const unreadAttributes = ({ schema, file }: StrapiHolder): readonly Note[] =>
  [...mappingAt(schema, 'attributes')].flatMap(([name, declared]) =>
    isMapping(declared)
      ? []
      : [
          lost(
            `attributes were not read, because they are the result of code: \`${name.slice(0, 60)}\``,
            codeAt(declared)?.place ?? file,
          ),
        ],
  )

/** The converted attributes, and comments on the others. */
interface ConvertedAttributes {
  readonly entries: readonly DocumentEntry[]
  readonly left: readonly Note[]
}

function toAttributes(
  declared: StrapiHolder['attributes'],
  around: StrapiAttributeContext,
): ConvertedAttributes {
  const entries: DocumentEntry[] = []
  let waiting: readonly Note[] = []
  for (const [name, attribute] of declared) {
    const ours = attributeNameIn(around.names, around.uid, name)
    const { json, notes } = toAttribute(name, attribute, around)
    const source = placeOfAttribute(attribute)
    const renamed = ours === name ? [] : [lost(`\`${name}\` in Strapi: ${whyRenamed(name)}`)]
    const all = entry(ours, { kind: 'flow', json: json ?? null }, [...renamed, ...notes]).notes.map(note => ({
      ...note,
      source: note.source ?? source,
    }))
    if (json === undefined) waiting = [...waiting, ...all]
    else {
      entries.push({ key: ours, value: { kind: 'flow', json }, notes: [...waiting, ...all], source })
      waiting = []
    }
  }
  return { entries, left: waiting }
}

/** The place of an attribute is that of its first key. */
const placeOfAttribute = (declared: LiteralMapping): string | undefined => {
  const [first] = declared.keys()
  return first === undefined ? undefined : scriptPlace(declared, first)
}

const attributes = ({ entries, left }: ConvertedAttributes, source: string | undefined): DocumentEntry => ({
  ...entry('attributes', { kind: 'block', entries, closing: left }),
  source,
})

/** Keys of a schema that are imported, or that only Strapi's admin panel and generator read. */
const OF_SCHEMAS: ReadonlySet<string> = new Set([
  ...['kind', 'collectionName', 'info', 'options', 'pluginOptions', 'attributes'],
  ...['uid', 'modelType', 'modelName', 'globalId', 'connection', 'apiName', 'plugin', 'config', '__schema__'],
])

/** System fields, which Plinth always returns. */
const SYSTEM = ['id', 'documentId', 'createdAt', 'updatedAt', 'publishedAt', 'locale']

function typeNotes({ schema, file }: StrapiType, hidden: ReadonlySet<string>): readonly GivenNote[] {
  const shown = SYSTEM.filter(name => hidden.has(name))
  const plugins = [...mappingAt(schema, 'pluginOptions').keys()].filter(
    plugin => !['i18n', 'content-manager', 'content-type-builder'].includes(plugin),
  )
  const other = [...schema.keys()].filter(key => !OF_SCHEMAS.has(key))
  return [
    ...(other.length > 0 ? [`without a counterpart: ${ticked(other)} of the schema`] : []),
    ...(shown.length > 0
      ? [
          lost(
            `private in Strapi, always shown in Plinth: ${shown.join(', ')}`,
            scriptPlace(schema, 'options') ?? file,
          ),
        ]
      : []),
    ...(valueAt(schema, 'options', 'populateCreatorFields') === true
      ? [
          'Strapi also shows who created and updated it (`populateCreatorFields`): administrators, which Plinth has not',
        ]
      : []),
    ...plugins.map(plugin => `without a counterpart: the options of the plugin \`${plugin}\``),
  ]
}
