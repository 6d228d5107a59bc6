import type { Attribute, Component, ContentType, Holder, Model } from '../../core/model/model.ts'
import { attributeNameIn, type Names } from './names.ts'
import { EMPTY_MAPPING, type LiteralMapping, mappingAt, textAt, valueAt } from './read/literal-value.ts'
import type { StrapiHolder, StrapiProject, StrapiType } from './read/strapi-project.ts'

/** Maps Strapi's content-types, components and attributes to Plinth's. */
export interface Correspondence {
  /** Files and users first, then the content-types in the model's order. */
  readonly types: readonly TypePair[]
  /** By Strapi's uid. */
  readonly byUid: ReadonlyMap<string, TypePair>
  /** By Strapi's uid. */
  readonly components: ReadonlyMap<string, HolderPair<Component>>
}

export interface HolderPair<Ours extends Holder = Holder> {
  /** Strapi's. */
  readonly uid: string
  readonly collectionName: string
  readonly ours: Ours
  readonly attributes: readonly AttributePair[]
}

export interface TypePair extends HolderPair<ContentType> {
  readonly localized: boolean
}

export interface AttributePair {
  /** Strapi's. */
  readonly name: string
  readonly declared: LiteralMapping
  readonly ours: Attribute
}

/** Attributes that were not converted have no pair. */
export function correspond(project: StrapiProject, names: Names, model: Model): Correspondence {
  const own = project.contentTypes.flatMap(type => typePair(type, names, model))
  const builtIn = builtInPairs(project, names, model)
  const types = [...builtIn, ...own]
  return {
    types: types.filter(({ ours }) => ours !== model.builtIn.role && ours !== model.builtIn.locale),
    byUid: new Map(types.map(pair => [pair.uid, pair])),
    components: new Map(
      project.components.flatMap(component => {
        const ours = model.components.get(names.components.get(component.uid) ?? '')
        return ours === undefined ? [] : [[component.uid, pair(component, ours, names)] as const]
      }),
    ),
  }
}

const pair = <Ours extends Holder>(
  { uid, collectionName, attributes }: Pick<StrapiHolder, 'uid' | 'collectionName' | 'attributes'>,
  ours: Ours,
  names: Names,
): HolderPair<Ours> => ({
  uid,
  collectionName,
  ours,
  attributes: [...attributes].flatMap(([name, declared]): readonly AttributePair[] => {
    const attribute = ours.attributes.get(attributeNameIn(names, uid, name))
    const isCarried = attribute !== undefined && !attribute.system && attribute.kind !== 'localizations'
    return isCarried ? [{ name, declared, ours: attribute }] : []
  }),
})

function typePair(type: StrapiType, names: Names, model: Model): readonly TypePair[] {
  const key = names.types.get(type.uid)?.key
  const ours = key === undefined ? undefined : model.contentTypes.get(`api::${key}.${key}`)
  const localized = valueAt(type.schema, 'pluginOptions', 'i18n', 'localized') === true
  return ours === undefined ? [] : [{ ...pair(type, ours, names), localized }]
}

/** Types of Strapi's plugins that Plinth has built in, with the same attribute names. */
function builtInPairs({ user }: StrapiProject, names: Names, { builtIn }: Model): readonly TypePair[] {
  const like = (uid: string, collectionName: string, ours: ContentType): TypePair => ({
    ...pair({ uid, collectionName, attributes: alike(ours, user) }, ours, names),
    localized: false,
  })
  return [
    like('plugin::upload.file', 'files', builtIn.file),
    like('plugin::users-permissions.user', 'up_users', builtIn.user),
    like('plugin::users-permissions.role', 'up_roles', builtIn.role),
    like('plugin::i18n.locale', 'i18n_locale', builtIn.locale),
  ]
}

/** Tokens in mails that Strapi has sent are not imported: their links lead to Strapi. */
const LEFT: ReadonlySet<string> = new Set(['resetPasswordToken', 'confirmationToken'])

function alike(ours: ContentType, user: StrapiHolder | null): StrapiHolder['attributes'] {
  const own = ours.key === 'user' ? user?.attributes : undefined
  return new Map([
    ...[...ours.attributes.keys()]
      .filter(name => !LEFT.has(name))
      .map((name): [string, LiteralMapping] => [name, own?.get(name) ?? roleOf(ours, name)]),
    ...[...(own ?? [])].filter(([name]) => !LEFT.has(name)),
  ])
}

const ROLE: LiteralMapping = new Map([
  ['relation', 'manyToOne'],
  ['target', 'plugin::users-permissions.role'],
  ['inversedBy', 'users'],
])

const roleOf = ({ key }: ContentType, name: string): LiteralMapping =>
  key === 'user' && name === 'role' ? ROLE : EMPTY_MAPPING

/** How Strapi stores the links of a relation. */
export function isOwner({ declared }: AttributePair): boolean {
  return textAt(declared, 'mappedBy') === undefined
}

export const usesColumn = ({ declared }: AttributePair): boolean =>
  valueAt(declared, 'useJoinTable') === false

/** A column name configured by the project. */
export const joinColumn = ({ declared }: AttributePair): string | undefined =>
  textAt(mappingAt(declared, 'joinColumn'), 'name')

/** The columns of a `morphToOne` relation in the table of its holder. */
export const morphColumns = (declared: LiteralMapping): { readonly id: string; readonly type: string } => {
  const column = (key: string, usual: string) => textAt(declared, 'morphColumn', key, 'name') ?? usual
  return { id: column('idColumn', 'target_id'), type: column('typeColumn', 'target_type') }
}

/** Popular custom fields and the types that they store. */
const CUSTOM_FIELDS: Readonly<Record<string, string>> = {
  'plugin::color-picker.color': 'string',
  'plugin::country-select.country': 'string',
  'plugin::ckeditor.CKEditor': 'richtext',
  'plugin::ckeditor5.CKEditor': 'richtext',
  'plugin::tinymce.tinymce': 'richtext',
  'plugin::multi-select.multi-select': 'json',
  'plugin::tagsinput.tags': 'json',
  'plugin::map-field.map': 'json',
  'plugin::seo.seo': 'json',
  'plugin::video-field.video': 'json',
}

/** The attribute type of a custom field; undefined: its plugin is not known. */
export const knownCustomField = (field: string): string | undefined =>
  Object.hasOwn(CUSTOM_FIELDS, field) ? CUSTOM_FIELDS[field] : undefined
