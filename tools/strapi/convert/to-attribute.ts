import type { Json } from '../../../core/project/settings/settings.ts'
import { knownCustomField } from '../field-mapping.ts'
import { attributeNameIn, type Names } from '../names.ts'
import {
  codeAt,
  itemsAt,
  jsonOrText,
  type LiteralMapping,
  type LiteralValue,
  mappingAt,
  textAt,
  textsAt,
  toJson,
  valueAt,
} from '../read/literal-value.ts'
import { type GivenNote, lost } from '../yaml-document.ts'
import { REPAIRED } from './pair-relations.ts'

/** The context of an attribute's holder. */
export interface StrapiAttributeContext {
  readonly names: Names
  /** Strapi's uid of the holder. */
  readonly uid: string
  /** The holder is a localized content-type. */
  readonly localized: boolean
  /** Attributes hidden by `privateAttributes`. */
  readonly hidden: ReadonlySet<string>
  /** The PostgreSQL type of an attribute's column in Strapi's database, if known. */
  readonly columnType: (attribute: string) => string | undefined
  /** True if Strapi's database has a table or columns of the links of a relation. */
  readonly hasLinks: (attribute: string, declared: LiteralMapping) => boolean
}

/** A converted attribute; without `json` it is left out. */
export interface ConvertedAttribute {
  readonly json?: Json
  readonly notes: readonly GivenNote[]
}

/** Converts an attribute, to the short form if possible. */
export function toAttribute(
  name: string,
  declared: LiteralMapping,
  around: StrapiAttributeContext,
): ConvertedAttribute {
  const own = ownKeys(name, declared, around)
  if (typeof own === 'string') return { notes: [lost(`\`${name}\` is left out: ${own}`)] }
  const { type, keys } = own
  const isAlwaysLocalized = type === 'relation' || type === 'uid'
  const isShared =
    around.localized && !isAlwaysLocalized && valueAt(declared, 'pluginOptions', 'i18n', 'localized') !== true
  const all = withoutUndefined({
    type,
    ...keys,
    ...constraints(type, declared),
    private:
      valueAt(declared, 'private') === true || around.hidden.has(name) || own.hidden ? true : undefined,
    localized: isShared ? false : undefined,
  })
  const json = Object.keys(all).length === 1 && !NEVER_SHORT.has(type) ? type : all
  return { json, notes: [...remarks(declared, own), ...(own.note === undefined ? [] : [own.note])] }
}

const NEVER_SHORT: ReadonlySet<string> = new Set(['relation', 'component', 'dynamiczone', 'enumeration'])

const withoutUndefined = (
  record: Readonly<Record<string, Json | undefined>>,
): Readonly<Record<string, Json>> =>
  Object.fromEntries(
    Object.entries(record).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])),
  )

const SCALARS: ReadonlySet<string> = new Set([
  ...['string', 'text', 'richtext', 'blocks', 'email', 'password', 'date', 'time', 'datetime', 'timestamp'],
  ...['integer', 'biginteger', 'float', 'decimal', 'boolean', 'json', 'array'],
])

function ownKeys(name: string, declared: LiteralMapping, around: StrapiAttributeContext): OwnKeys {
  const type =
    textAt(declared, 'type') ??
    (declared.has('component') ? 'component' : declared.has('target') ? 'relation' : '')
  switch (type) {
    case 'uid':
      return { type, keys: { targetField: ownName(textAt(declared, 'targetField'), around) } }
    case 'enumeration':
      return toEnumeration(name, declared)
    case 'relation':
      return toRelation(name, declared, around)
    case 'media':
      return toMedia(declared)
    case 'component':
      return toComponent(declared, around.names)
    case 'dynamiczone':
      return toZone(name, declared, around.names)
    case 'customField':
      return toCustomField(declared, around.columnType(name))
    default:
      return SCALARS.has(type) ? { type, keys: {} } : `Plinth has no type \`${type}\``
  }
}

/** Numbers and booleans are values as well: Strapi stores all of them as texts. */
function toEnumeration(name: string, declared: LiteralMapping): OwnKeys {
  const values = itemsAt(declared, 'enum')
  if (values.length === 0)
    return codeAt(declared, 'enum') === undefined
      ? 'it has no values'
      : {
          type: 'string',
          keys: {},
          note: lost(`\`${name}\`: an enumeration in Strapi, kept as string: code makes its values`),
        }
  const known = values.filter(value => value !== null && typeof value !== 'object')
  return {
    type: 'enumeration',
    keys: { enum: known.map(String) },
    ...(known.length < values.length && {
      note: lost(`\`${name}\`: \`enum\` has values that are no texts, which are left out`),
    }),
  }
}

const KINDS = ['images', 'videos', 'audios', 'files']

function toMedia(declared: LiteralMapping): OwnKeys {
  const wanted = textsAt(declared, 'allowedTypes')
  const allowed = wanted.filter(kind => KINDS.includes(kind))
  const other = wanted.filter(kind => !KINDS.includes(kind)).map(kind => `\`${kind}\``)
  const isAny = allowed.length === 0 || KINDS.every(kind => allowed.includes(kind))
  return {
    type: 'media',
    keys: {
      multiple: valueAt(declared, 'multiple') === true ? true : undefined,
      allowedTypes: isAny ? undefined : [...new Set(allowed)],
    },
    ...(other.length > 0 && {
      note: `${other.join(', ')} in \`allowedTypes\` is left out: Plinth has ${KINDS.join(', ')}`,
    }),
  }
}

function toComponent(declared: LiteralMapping, { components }: Names): OwnKeys {
  const wanted = textAt(declared, 'component') ?? ''
  const component = components.get(wanted)
  if (component === undefined) return `there is no component \`${wanted}\``
  return {
    type: 'component',
    keys: { component, repeatable: valueAt(declared, 'repeatable') === true ? true : undefined },
  }
}

function toZone(name: string, declared: LiteralMapping, { components }: Names): OwnKeys {
  const wanted = itemsAt(declared, 'components')
  const known = wanted.flatMap(uid => (typeof uid === 'string' ? (components.get(uid) ?? []) : []))
  if (known.length === 0) return 'none of its components is there'
  const gone = wanted.filter(uid => typeof uid !== 'string' || !components.has(uid))
  return {
    type: 'dynamiczone',
    keys: { components: [...new Set(known)] },
    ...(gone.length > 0 && { note: lost(`\`${name}\` is without ${gone.map(nameComponent).join(', ')}`) }),
  }
}

const nameComponent = (uid: LiteralValue): string =>
  typeof uid === 'string'
    ? `\`${uid}\`: there is no such component`
    : 'components that are the result of code'

/** The attribute type of a custom field, by column type. */
const STORED: Readonly<Record<string, string>> = {
  jsonb: 'json',
  json: 'json',
  text: 'text',
  'character varying': 'string',
  integer: 'integer',
  bigint: 'biginteger',
  numeric: 'decimal',
  'double precision': 'float',
  boolean: 'boolean',
  date: 'date',
  'timestamp without time zone': 'datetime',
  'time without time zone': 'time',
}

function toCustomField(declared: LiteralMapping, column: string | undefined): OwnKeys {
  const field = textAt(declared, 'customField') ?? ''
  const type =
    knownCustomField(field) ??
    (column !== undefined && Object.hasOwn(STORED, column) ? STORED[column] : undefined)
  if (type !== undefined) return { type, keys: {} }
  return { type: 'json', keys: {}, unknownField: true }
}

const COUNTED: ReadonlySet<string> = new Set(['integer', 'float', 'decimal'])

/** Strapi checks such an attribute only in documents whose other attributes show it. */
const isConditional = (declared: LiteralMapping): boolean =>
  valueAt(declared, 'conditions', 'visible') !== undefined

function constraints(type: string, declared: LiteralMapping): Readonly<Record<string, Json | undefined>> {
  const value = (key: string) => toValue(type, valueAt(declared, key))
  return {
    required: valueAt(declared, 'required') === true && !isConditional(declared) ? true : undefined,
    unique: valueAt(declared, 'unique') === true && type !== 'uid' ? true : undefined,
    min: toBound(type, value('min')),
    max: toBound(type, value('max')),
    minLength: toBound(type, value('minLength')),
    maxLength: toBound(type, value('maxLength')),
    regex: textAt(declared, 'regex'),
    default: value('default'),
    writable: valueAt(declared, 'writable') === false ? false : undefined,
  }
}

/** Strapi takes a length that is written as text. A biginteger has its bounds as texts. */
const toBound = (type: string, json: Json | undefined): Json | undefined =>
  type !== 'biginteger' && typeof json === 'string' && /^\d{1,9}$/.test(json) ? Number(json) : json

/** Strapi's admin panel writes some numbers, booleans and JSON as texts. Times of Strapi may have no seconds. */
function toValue(type: string, declared: LiteralValue | undefined): Json | undefined {
  const json = toJson(declared) ?? undefined
  if (typeof json !== 'string') return json
  if (COUNTED.has(type) && json.trim() !== '' && Number.isFinite(Number(json))) return Number(json)
  if (type === 'boolean' && (json === 'true' || json === 'false')) return json === 'true'
  if (type === 'json') return jsonOrText(json) ?? json
  // Strapi takes the date of a time.
  if (type === 'date' && /^\d{4}-\d\d-\d\dT/.test(json)) return json.slice(0, 'yyyy-mm-dd'.length)
  if (type === 'time' && /^\d\d:\d\d$/.test(json)) return `${json}:00`
  return json
}

/** Options of the admin panel and of Strapi's tables, which do not affect the API. */
const SILENT: ReadonlySet<string> = new Set([
  ...[
    'type',
    'pluginOptions',
    'configurable',
    'visible',
    'editable',
    'searchable',
    'required',
    'unique',
    'private',
  ],
  ...[
    'min',
    'max',
    'minLength',
    'maxLength',
    'regex',
    'default',
    'targetField',
    'enum',
    'relation',
    'target',
  ],
  ...[
    'inversedBy',
    'mappedBy',
    'multiple',
    'allowedTypes',
    'component',
    'repeatable',
    'components',
    'customField',
  ],
  ...[
    'useJoinTable',
    'joinTable',
    'joinColumn',
    'column',
    'columnName',
    'columnType',
    'writable',
    'autoPopulate',
  ],
  ...['displayName', 'description', REPAIRED],
])

/** Keys of `column` that refuse or change values. */
const COLUMN_RULES: readonly string[] = ['unique', 'notNullable', 'defaultTo', 'unsigned']

const OF_THE_PANEL: ReadonlySet<string> = new Set([
  'i18n',
  'content-manager',
  'content-type-builder',
  'translate',
  'versions',
])

function remarks(
  declared: LiteralMapping,
  { type, unknownField }: Exclude<OwnKeys, string>,
): readonly string[] {
  const columns = COLUMN_RULES.filter(key => valueAt(declared, 'column', key) !== undefined)
  const dropped = [
    ...[...declared.keys()].filter(key => !SILENT.has(key)),
    ...columns.map(key => `column.${key}`),
  ].map(key => `\`${key}\``)
  const plugins = [...mappingAt(declared, 'pluginOptions').keys()].filter(plugin => !OF_THE_PANEL.has(plugin))
  const code = ['default', 'regex', 'min', 'max'].filter(
    key =>
      declared.has(key) && valueAt(declared, key) !== null && toJson(valueAt(declared, key)) === undefined,
  )
  const field =
    textAt(declared, 'type') === 'customField'
      ? [
          `the custom field \`${textAt(declared, 'customField') ?? ''}\`, kept as ${type}${unknownField ? ', as its plugin is not known; json refuses plain texts: say `type: string` if it has texts' : ''}`,
        ]
      : []
  const repaired = textAt(declared, REPAIRED)
  return [
    ...(repaired === undefined ? [] : [repaired]),
    ...field,
    ...(isConditional(declared) && valueAt(declared, 'required') === true
      ? ['`required` is left out: Strapi asks for a value only where `conditions` show the attribute']
      : []),
    ...(dropped.length > 0 ? [`without a counterpart: ${dropped.join(', ')}`] : []),
    ...plugins.map(plugin => `without a counterpart: the options of the plugin \`${plugin}\``),
    ...(valueAt(declared, 'searchable') === false
      ? ['`searchable: false`: `_q` finds documents by this attribute, too']
      : []),
    ...code.map(key => `\`${key}\` is code in Strapi, and left out`),
  ]
}

/** The additional keys of an attribute type, in order; or the reason why it cannot be converted. */
type OwnKeys =
  | {
      readonly type: string
      readonly keys: Readonly<Record<string, Json | undefined>>
      readonly note?: GivenNote
      /** A custom field of a plugin that is not known. */
      readonly unknownField?: true
      /** The value may not be read, whatever the schema says. */
      readonly hidden?: boolean
    }
  | string

const RELATION_KINDS: ReadonlySet<string> = new Set(['oneToOne', 'oneToMany', 'manyToOne', 'manyToMany'])

const BUILT_IN: ReadonlyMap<string, string> = new Map([
  ['plugin::users-permissions.user', 'user'],
  ['plugin::users-permissions.role', 'role'],
  ['plugin::upload.file', 'file'],
  ['plugin::i18n.locale', 'plugin::i18n.locale'],
])

function toRelation(name: string, declared: LiteralMapping, around: StrapiAttributeContext): OwnKeys {
  const { names } = around
  const relation = textAt(declared, 'relation') ?? ''
  const wanted = textAt(declared, 'target') ?? ''
  const target = BUILT_IN.get(wanted) ?? names.types.get(wanted)?.key
  if (target === undefined || !RELATION_KINDS.has(relation)) {
    const why = whyNoRelation(relation, declared)
    if (!around.hasLinks(name, declared)) return why
    const note = lost(`\`${name}\` has its links as json, in \`private\`: ${why}`)
    return { type: 'json', keys: {}, hidden: true, note }
  }
  const back = (key: string): string | undefined => {
    const other = textAt(declared, key)
    return other === undefined ? undefined : attributeNameIn(names, wanted, other)
  }
  return {
    type: 'relation',
    keys: { relation, target, inversedBy: back('inversedBy'), mappedBy: back('mappedBy') },
  }
}

function whyNoRelation(relation: string, declared: LiteralMapping): string {
  const target = textAt(declared, 'target') ?? ''
  if (relation === 'morphOne' || relation === 'morphMany')
    return `it is the other side of \`${textAt(declared, 'morphBy') ?? ''}\` of \`${target}\`, which leads to documents of any content-type`
  if (relation.startsWith('morph'))
    return `a \`${relation}\` relation leads to documents of any content-type, which Plinth has not; a relation for each content-type can take its place`
  if (!RELATION_KINDS.has(relation)) return `Plinth has no relation \`${relation}\``
  return target.startsWith('admin::')
    ? `it leads to \`${target}\`, the administrators of Strapi's panel, which Plinth has not`
    : `it leads to \`${target}\`, which did not come over`
}

const ownName = (name: string | undefined, { names, uid }: StrapiAttributeContext): string | undefined =>
  name === undefined ? undefined : attributeNameIn(names, uid, name)
