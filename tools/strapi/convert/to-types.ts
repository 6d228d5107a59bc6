import { toPlural, toTitle } from '../../../core/model/names.ts'
import { freeAttributeName, type Names, ownUserAttributes } from '../names.ts'
import { mappingAt, textAt, textsAt, valueAt } from '../read/literal-value.ts'
import type { StrapiFacts } from '../read/read-facts.ts'
import type { StrapiHolder, StrapiProject, StrapiType } from '../read/strapi-project.ts'
import { namesOf } from '../strapi-names.ts'
import { type DocumentEntry, entry, flow, section } from '../yaml-document.ts'
import { codeNotes } from './project-warnings.ts'
import { type StrapiAttributeContext, toAttribute } from './to-attribute.ts'
import { routerNotes } from './to-routes.ts'

/** The sections `components`, `contentTypes` and `user`. */
export function toTypes(
  project: StrapiProject,
  names: Names,
  facts: StrapiFacts | null,
): readonly (DocumentEntry | undefined)[] {
  const terms: TypeTerms = {
    project,
    names,
    hidden: textsAt(project.config.api, 'responses', 'privateAttributes'),
    columnsOf: columnTypes(project, facts),
  }
  const components = project.components.flatMap(component => toComponent(component, terms))
  const types = project.contentTypes.flatMap(type => toContentType(type, terms))
  const user = toAttributes(ownUserAttributes(project.user), plain(names, terms.columnsOf('up_users')))
  return [
    section('components', components),
    section('contentTypes', types),
    section('user', [user.entries.length + user.left.length === 0 ? undefined : attributes(user)]),
  ]
}

type ColumnType = StrapiAttributeContext['columnType']

/** The columns of a holder's table, if Strapi's database is available. */
function columnTypes(
  { version }: StrapiProject,
  facts: StrapiFacts | null,
): (collectionName: string) => ColumnType {
  const names = namesOf(version)
  return collectionName => attribute =>
    facts?.tables.get(names.table(collectionName))?.find(({ name }) => name === names.column(attribute))?.type
}

const plain = (names: Names, columnType: ColumnType): StrapiAttributeContext => ({
  names,
  localized: false,
  hidden: new Set(),
  columnType,
})

function toComponent(component: StrapiHolder, { names, columnsOf }: TypeTerms): readonly DocumentEntry[] {
  const uid = names.components.get(component.uid)
  if (uid === undefined) return []
  const displayName =
    textAt(component.schema, 'info', 'displayName') ?? textAt(component.schema, 'info', 'name')
  const converted = toAttributes(component.attributes, plain(names, columnsOf(component.collectionName)))
  const title = toTitle(uid.split('.')[1] ?? '')
  const found = section(
    uid,
    [
      flow('displayName', displayName === title ? undefined : displayName),
      flow('description', textAt(component.schema, 'info', 'description') || undefined),
      attributes(converted),
    ],
    uid === component.uid ? [] : [`\`${component.uid}\` in Strapi`],
  )
  return found === undefined ? [] : [found]
}

interface TypeTerms {
  readonly project: StrapiProject
  readonly names: Names
  /** Attributes that config/api makes private in all types. */
  readonly hidden: readonly string[]
  readonly columnsOf: (collectionName: string) => ColumnType
}

export const hasDrafts = ({ schema }: StrapiType): boolean =>
  valueAt(schema, 'options', 'draftAndPublish') === true

function toContentType(
  type: StrapiType,
  { project, names, hidden, columnsOf }: TypeTerms,
): readonly DocumentEntry[] {
  const named = names.types.get(type.uid)
  if (named === undefined) return []
  const { schema } = type
  const localized = valueAt(schema, 'pluginOptions', 'i18n', 'localized') === true
  const isSingle = textAt(schema, 'kind') === 'singleType'
  const displayName = textAt(schema, 'info', 'displayName')
  const secret = new Set([...hidden, ...textsAt(schema, 'options', 'privateAttributes')])
  const converted = toAttributes(type.attributes, {
    names,
    localized,
    hidden: secret,
    columnType: columnsOf(type.collectionName),
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
      attributes(converted),
    ],
    [
      ...named.notes,
      ...typeNotes(type, secret),
      ...routerNotes(project, type.uid),
      ...codeNotes(project, type.api),
    ],
  )
  return found === undefined ? [] : [found]
}

/** The converted attributes, and comments on the others. */
interface ConvertedAttributes {
  readonly entries: readonly DocumentEntry[]
  readonly left: readonly string[]
}

function toAttributes(
  given: StrapiHolder['attributes'],
  around: StrapiAttributeContext,
): ConvertedAttributes {
  const entries: DocumentEntry[] = []
  let waiting: readonly string[] = []
  for (const [name, attribute] of given) {
    const ours = freeAttributeName(name)
    const { json, notes } = toAttribute(name, attribute, around)
    const renamed = ours === name ? [] : [`\`${name}\` in Strapi: the name is taken in Plinth`]
    if (json === undefined) waiting = [...waiting, ...notes]
    else {
      entries.push(entry(ours, { kind: 'flow', json }, [...waiting, ...renamed, ...notes]))
      waiting = []
    }
  }
  return { entries, left: waiting }
}

const attributes = ({ entries, left }: ConvertedAttributes): DocumentEntry =>
  entry('attributes', { kind: 'block', entries, closing: left })

/** System fields, which Plinth always returns. */
const SYSTEM = ['id', 'documentId', 'createdAt', 'updatedAt', 'publishedAt', 'locale']

function typeNotes({ schema }: StrapiType, hidden: ReadonlySet<string>): readonly string[] {
  const shown = SYSTEM.filter(name => hidden.has(name))
  const plugins = [...mappingAt(schema, 'pluginOptions').keys()].filter(
    plugin => !['i18n', 'content-manager', 'content-type-builder'].includes(plugin),
  )
  return [
    ...(shown.length > 0 ? [`private in Strapi, always shown in Plinth: ${shown.join(', ')}`] : []),
    ...(valueAt(schema, 'options', 'populateCreatorFields') === true
      ? [
          'Strapi also shows who created and updated it (`populateCreatorFields`): administrators, which Plinth has not',
        ]
      : []),
    ...plugins.map(plugin => `without a counterpart: the options of the plugin \`${plugin}\``),
  ]
}
