import { isDeepStrictEqual } from 'node:util'
import type { Path } from '../../../core/faults/diagnostic.ts'
import type {
  Attribute,
  ComponentAttribute,
  ContentType,
  Holder,
  Model,
  RelationAttribute,
  ScalarAttribute,
  ZoneAttribute,
} from '../../../core/model/model.ts'
import type { Settings } from '../../../core/project/settings/settings.ts'

/** `breaking`: clients fail; `risky`: some clients or writes may; `safe`: none notices. */
export type Level = 'breaking' | 'risky' | 'safe'

/** A change of REST between two versions of a project. The paths name the declarations; null: it has none. */
export interface ApiChange {
  readonly level: Level
  readonly message: string
  readonly now: Path | null
  readonly was: Path | null
}

interface Version {
  readonly model: Model
  readonly settings: Settings
}

/** The changes of addresses, attributes and rules of REST. */
export function compareApi(before: Version, after: Version): readonly ApiChange[] {
  return [
    ...compareSettings(before.settings, after.settings),
    ...compareHolders(ownTypes(before.model), ownTypes(after.model)),
    ...compareHolders([...before.model.components.values()], [...after.model.components.values()]),
  ]
}

const ownTypes = ({ contentTypes }: Model): readonly ContentType[] =>
  [...contentTypes.values()].filter(({ builtIn, key }) => !builtIn || key === 'user')

function compareSettings(before: Settings, after: Settings): readonly ApiChange[] {
  const change = (level: Level, path: Path, message: string): ApiChange => ({
    level,
    message,
    now: path,
    was: path,
  })
  const [was, now] = [before.rest, after.rest]
  const removed = Object.entries(before.graphql.endpoints).filter(
    ([path, format]) =>
      before.graphql.enabled && (!after.graphql.enabled || after.graphql.endpoints[path] !== format),
  )
  return [
    ...(was.prefix === now.prefix
      ? []
      : [change('breaking', ['rest', 'prefix'], `all addresses move from ${was.prefix} to ${now.prefix}`)]),
    ...(was.responseFormat === now.responseFormat
      ? []
      : [
          change(
            'breaking',
            ['rest', 'responseFormat'],
            `answers have the format ${now.responseFormat} instead of ${was.responseFormat}`,
          ),
        ]),
    ...(now.maxLimit < was.maxLimit
      ? [
          change(
            'risky',
            ['rest', 'maxLimit'],
            `lists have at most ${now.maxLimit} documents instead of ${was.maxLimit}`,
          ),
        ]
      : []),
    ...(now.defaultLimit !== was.defaultLimit
      ? [
          change(
            'risky',
            ['rest', 'defaultLimit'],
            `lists have ${now.defaultLimit} documents by default instead of ${was.defaultLimit}`,
          ),
        ]
      : []),
    ...removed.map(([path, format]) =>
      change('breaking', ['graphql', 'endpoints'], `the GraphQL endpoint ${path} (${format}) is gone`),
    ),
  ]
}

const nameOf = (holder: Holder): string => (holder.holder === 'content-type' ? holder.key : holder.uid)

const pathOf = (holder: Holder): Path => {
  if (holder.holder === 'component') return ['components', holder.uid]
  return holder.builtIn ? [holder.key] : ['contentTypes', holder.key]
}

function compareHolders(before: readonly Holder[], after: readonly Holder[]): readonly ApiChange[] {
  const found = (holder: Holder) =>
    after.find(each => nameOf(each) === nameOf(holder)) ??
    after.find(each => each.renamedFrom === nameOf(holder))
  const matched = new Set(before.map(found))
  const changes = before.flatMap((old): readonly ApiChange[] => {
    const now = found(old)
    if (now) return [...compareType(old, now), ...compareAttributes(old, now)]
    return [{ level: 'breaking', message: `\`${nameOf(old)}\` is gone`, now: null, was: pathOf(old) }]
  })
  const added = after.filter(holder => !matched.has(holder))
  return [
    ...changes,
    ...added.map(
      (holder): ApiChange => ({
        level: 'safe',
        message: `\`${nameOf(holder)}\` is new`,
        now: pathOf(holder),
        was: null,
      }),
    ),
  ]
}

const addressOf = ({ kind, key, pluralApiId }: ContentType): string =>
  `/${kind === 'single' ? key : pluralApiId}`

function compareType(old: Holder, now: Holder): readonly ApiChange[] {
  const places = { now: pathOf(now), was: pathOf(old) }
  if (old.holder === 'component' || now.holder === 'component')
    return nameOf(old) === nameOf(now)
      ? []
      : [
          {
            level: 'breaking',
            message: `the component \`${nameOf(old)}\` is called \`${nameOf(now)}\``,
            ...places,
          },
        ]
  const changes: readonly (readonly [boolean, Level, string])[] = [
    [old.kind !== now.kind, 'breaking', `\`${now.key}\` is a ${now.kind} type instead of a ${old.kind} type`],
    [
      old.kind === now.kind && addressOf(old) !== addressOf(now),
      'breaking',
      `the address ${addressOf(old)} becomes ${addressOf(now)}`,
    ],
    [
      old.draftAndPublish !== now.draftAndPublish,
      'risky',
      `\`${now.key}\` has ${now.draftAndPublish ? 'drafts now: lists show published documents only' : 'no drafts any more'}`,
    ],
    [
      old.localized !== now.localized,
      'risky',
      `\`${now.key}\` is ${now.localized ? 'localized now: answers are of the default locale' : 'not localized any more'}`,
    ],
  ]
  return changes.flatMap(([isChanged, level, message]) => (isChanged ? [{ level, message, ...places }] : []))
}

function compareAttributes(old: Holder, now: Holder): readonly ApiChange[] {
  const declared = (holder: Holder) => [...holder.attributes.values()].filter(({ system }) => !system)
  const found = ({ name }: Attribute) =>
    declared(now).find(each => each.name === name) ?? declared(now).find(each => each.renamedFrom === name)
  const matched = new Set(declared(old).map(found))
  const at = (holder: Holder, name: string): Path => [...pathOf(holder), 'attributes', name]
  const of = (attribute: Attribute): string => `\`${attribute.name}\` of \`${nameOf(now)}\``
  const changes = declared(old).flatMap((was): readonly ApiChange[] => {
    const after = found(was)
    if (!after)
      return was.private && !was.writable
        ? []
        : [{ level: 'breaking', message: `${of(was)} is gone`, now: null, was: at(old, was.name) }]
    const places = { now: at(now, after.name), was: at(old, was.name) }
    return compareAttribute(was, after, now).map(([level, message]) => ({
      level,
      message: `${of(was)} ${message}`,
      ...places,
    }))
  })
  const added = declared(now).filter(attribute => !matched.has(attribute))
  return [
    ...changes,
    ...added.map((attribute): ApiChange => {
      const needed = isNeeded(attribute)
      const drafts = now.holder === 'content-type' && now.draftAndPublish
      const level = needed ? (drafts ? 'risky' : 'breaking') : 'safe'
      const message = `${of(attribute)} is new${needed ? ' and required: writes without it are refused' : ''}`
      return { level, message, now: at(now, attribute.name), was: null }
    }),
  ]
}

/** A create without it is refused. */
const isNeeded = (attribute: Attribute): boolean =>
  attribute.required &&
  attribute.writable &&
  (attribute.kind !== 'scalar' || (attribute.default === undefined && attribute.generate !== true))

type AttributeChange = readonly [level: Level, message: string]

function compareAttribute(was: Attribute, now: Attribute, holder: Holder): readonly AttributeChange[] {
  const drafts = holder.holder === 'content-type' && holder.draftAndPublish
  const changes: readonly (AttributeChange | null)[] = [
    was.name !== now.name ? ['breaking', `is called \`${now.name}\``] : null,
    !was.private && now.private ? ['breaking', 'is private: no answer has it, no filter may use it'] : null,
    was.private && !now.private ? ['risky', 'is not private any more: answers have it'] : null,
    was.writable && !now.writable ? ['breaking', 'cannot be written any more'] : null,
    !isNeeded(was) && isNeeded(now)
      ? [drafts ? 'risky' : 'breaking', 'is required: writes without it are refused']
      : null,
    was.localized !== now.localized && holder.holder === 'content-type' && holder.localized
      ? ['risky', now.localized ? 'differs by locale' : 'is shared by all locales']
      : null,
    ...compareKinds(was, now),
  ]
  return changes.filter(change => change !== null)
}

function compareKinds(was: Attribute, now: Attribute): readonly (AttributeChange | null)[] {
  if (was.kind !== now.kind) return [['breaking', `is of another kind: ${now.kind} instead of ${was.kind}`]]
  if (was.kind === 'scalar' && now.kind === 'scalar') return compareScalars(was, now)
  if (was.kind === 'component' && now.kind === 'component') return compareComponents(was, now)
  if (was.kind === 'zone' && now.kind === 'zone') return compareZones(was, now)
  if (was.kind === 'relation' && now.kind === 'relation') return compareRelations(was, now)
  if (was.kind === 'media' && now.kind === 'media')
    return [
      was.many === now.many
        ? null
        : ['breaking', now.many ? 'is a list now' : 'is one file instead of a list'],
      was.allowedTypes.every(type => now.allowedTypes.includes(type))
        ? null
        : ['risky', 'takes fewer kinds of files'],
    ]
  return []
}

const compareComponents = (
  was: ComponentAttribute,
  now: ComponentAttribute,
): readonly (AttributeChange | null)[] => [
  isSameHolder(was.component, now.component)
    ? null
    : ['breaking', `has the component \`${now.component.uid}\``],
  was.repeatable === now.repeatable
    ? null
    : ['breaking', now.repeatable ? 'is a list now' : 'is one value instead of a list'],
  ...compareBounds(was, now, ['min', 'max']),
]

function compareZones(was: ZoneAttribute, now: ZoneAttribute): readonly (AttributeChange | null)[] {
  const gone = was.components.filter(old => !now.components.some(own => isSameHolder(old, own)))
  const added = now.components.filter(own => !was.components.some(old => isSameHolder(old, own)))
  const names = (components: ZoneAttribute['components']) => components.map(({ uid }) => uid).join(', ')
  return [
    gone.length > 0 ? ['breaking', `does not take ${names(gone)} any more`] : null,
    added.length > 0 ? ['risky', `may contain ${names(added)}, which clients do not know`] : null,
    ...compareBounds(was, now, ['min', 'max']),
  ]
}

const isSameHolder = (was: Holder, now: Holder): boolean =>
  nameOf(was) === nameOf(now) || now.renamedFrom === nameOf(was)

const compareRelations = (
  was: RelationAttribute,
  now: RelationAttribute,
): readonly (AttributeChange | null)[] => [
  isSameHolder(was.target, now.target) ? null : ['breaking', `leads to \`${now.target.key}\``],
  was.many === now.many
    ? null
    : ['breaking', now.many ? 'is a list now' : 'is one document instead of a list'],
  was.relation !== now.relation && was.many === now.many
    ? ['risky', `is ${now.relation} instead of ${was.relation}`]
    : null,
]

/** Types whose values are texts in JSON alike. */
const TEXTS: readonly string[] = ['string', 'text', 'richtext', 'uid', 'email', 'enumeration']

function compareScalars(was: ScalarAttribute, now: ScalarAttribute): readonly (AttributeChange | null)[] {
  const isSameJson = TEXTS.includes(was.type) && TEXTS.includes(now.type)
  const stricter = now.type === 'enumeration' || now.type === 'email' || now.type === 'uid'
  const type = `is \`${now.type}\` instead of \`${was.type}\``
  const gone = (was.values ?? []).filter(value => !now.values?.includes(value))
  const added = (now.values ?? []).filter(value => was.values && !was.values.includes(value))
  return [
    was.type === now.type ? null : [isSameJson ? (stricter ? 'risky' : 'safe') : 'breaking', type],
    was.type === now.type && gone.length > 0
      ? ['breaking', `has no value ${gone.join(', ')} any more`]
      : null,
    added.length > 0 ? ['risky', `may be ${added.join(', ')}, which clients do not know`] : null,
    !was.unique && now.unique ? ['risky', 'is unique: writes of a value that exists are refused'] : null,
    now.regex && String(was.regex) !== String(now.regex) ? ['risky', 'has another pattern'] : null,
    isDeepStrictEqual(was.default, now.default) ? null : ['risky', 'has another default'],
    ...compareBounds(was, now, ['min', 'max', 'minLength', 'maxLength']),
  ]
}

type Bound = 'min' | 'max' | 'minLength' | 'maxLength'
type Bounds = { readonly [Key in Bound]?: number | string }

/** Tighter bounds refuse writes that were accepted. */
function compareBounds(was: Bounds, now: Bounds, keys: readonly Bound[]): readonly AttributeChange[] {
  return keys.flatMap((key): readonly AttributeChange[] => {
    const [old, own] = [was[key], now[key]].map(bound => (bound === undefined ? null : Number(bound)))
    if (own === null || own === undefined || own === old) return []
    const isTighter = old === null || old === undefined || (key.startsWith('min') ? own > old : own < old)
    return isTighter ? [['risky', `has \`${key}\` ${own}: writes beyond it are refused`]] : []
  })
}
