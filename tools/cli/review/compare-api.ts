import type { Path } from '../../../core/faults/diagnostic.ts'
import {
  type Attribute,
  apiIdOf,
  type ContentType,
  type Holder,
  type Locale,
  type Model,
} from '../../../core/model/model.ts'
import type { Settings } from '../../../core/project/settings/settings.ts'
import {
  type ApiScope,
  type ChangeLevel,
  compareAttribute,
  holderLabel,
  isNeeded,
} from './compare-attributes.ts'

/** A change of the API between two versions of a project. The paths name the declarations; null: it has none. */
export interface ApiChange {
  readonly level: ChangeLevel
  readonly scope: ApiScope
  readonly message: string
  readonly now: Path | null
  readonly was: Path | null
  /** The line of code that it is about, instead of a declaration. */
  readonly module?: ModulePlace
}

/** A line of a module of the project, in one of the versions. */
export interface ModulePlace {
  /** Relative to the folder of project.yaml. */
  readonly file: string
  readonly line: number
  readonly version: 'now' | 'was'
}

interface Version {
  readonly model: Model
  readonly settings: Settings
}

/** The changes of addresses, attributes and rules. The form of GraphQL is compared in core/graphql/compare-schemas.ts. */
export function compareApi(before: Version, after: Version): readonly ApiChange[] {
  const zoned = zonedComponents(before.model)
  return [
    ...compareSettings(before.settings, after.settings),
    ...compareLocales(before.model, after.model),
    ...compareHolders(ownTypes(before.model), ownTypes(after.model), zoned),
    ...compareHolders([...before.model.components.values()], [...after.model.components.values()], zoned),
  ]
}

const zonedComponents = ({ contentTypes, components }: Model): ReadonlySet<string> =>
  new Set(
    [...contentTypes.values(), ...components.values()].flatMap(({ attributes }) =>
      [...attributes.values()].flatMap(each =>
        each.kind === 'zone' ? each.components.map(({ uid }) => uid) : [],
      ),
    ),
  )

const ownTypes = ({ contentTypes }: Model): readonly ContentType[] =>
  [...contentTypes.values()].filter(({ builtIn, key }) => !builtIn || key === 'user')

type SettingChange = readonly [
  isChanged: boolean,
  level: ChangeLevel,
  message: string,
  path: Path,
  scope?: ApiScope,
]

const compareSettings = (before: Settings, after: Settings): readonly ApiChange[] =>
  [...compareRestSettings(before, after), ...compareGraphqlSettings(before, after)].flatMap(
    ([isChanged, level, message, path, scope = 'rest']) =>
      isChanged ? [{ level, scope, message, now: path, was: path }] : [],
  )

function compareRestSettings(before: Settings, after: Settings): readonly SettingChange[] {
  const [was, now] = [before.rest, after.rest]
  return [
    [
      was.prefix !== now.prefix,
      'breaking',
      `all addresses move from ${was.prefix} to ${now.prefix}`,
      ['rest', 'prefix'],
    ],
    [
      was.responseFormat !== now.responseFormat,
      'breaking',
      `answers have the format ${now.responseFormat} instead of ${was.responseFormat}`,
      ['rest', 'responseFormat'],
    ],
    [
      was.populateDeep !== undefined && now.populateDeep === undefined,
      'breaking',
      '`populate=deep` no longer populates',
      ['rest', 'populateDeep'],
    ],
    [
      now.maxLimit < was.maxLimit,
      'risky',
      `lists have at most ${now.maxLimit} documents instead of ${was.maxLimit}`,
      ['rest', 'maxLimit'],
    ],
    [
      now.defaultLimit !== was.defaultLimit,
      'risky',
      `lists have ${now.defaultLimit} documents by default instead of ${was.defaultLimit}`,
      ['rest', 'defaultLimit'],
    ],
  ]
}

function compareGraphqlSettings(before: Settings, after: Settings): readonly SettingChange[] {
  const [old, own] = [before.graphql.config, after.graphql.config]
  const removed = Object.entries(before.graphql.endpoints).filter(
    ([path, format]) =>
      before.graphql.enabled && (!after.graphql.enabled || after.graphql.endpoints[path] !== format),
  )
  return [
    ...(['amountLimit', 'depthLimit'] as const).map(
      (key): SettingChange => [
        own[key] < old[key],
        'risky',
        `\`${key}\` is ${own[key]} instead of ${old[key]}`,
        ['graphql', 'config', key],
        'graphql',
      ],
    ),
    [
      own.defaultLimit !== old.defaultLimit,
      'risky',
      `lists have ${own.defaultLimit} documents by default instead of ${old.defaultLimit}`,
      ['graphql', 'config', 'defaultLimit'],
      'graphql',
    ],
    [
      own.entityId !== old.entityId,
      'breaking',
      `\`id\` is that of the ${own.entityId} instead of the ${old.entityId}`,
      ['graphql', 'config', 'entityId'],
      'graphql',
    ],
    ...removed.map(
      ([path, format]): SettingChange => [
        true,
        'breaking',
        `the GraphQL endpoint ${path} (${format}) is gone`,
        ['graphql', 'endpoints'],
        'graphql',
      ],
    ),
  ]
}

const LOCALES: Path = ['i18n', 'locales']

/** Only localized types have locales that clients see. */
function compareLocales(before: Model, after: Model): readonly ApiChange[] {
  const isLocalized = ({ contentTypes }: Model) => [...contentTypes.values()].some(type => type.localized)
  if (!isLocalized(before) || !isLocalized(after)) return []
  const change = (level: ChangeLevel, message: string): ApiChange => ({
    ...{ level, message, scope: 'both' },
    ...{ now: LOCALES, was: LOCALES },
  })
  const has = ({ locales }: Model, code: string) => locales.some(each => each.code === code)
  const fate = ({ code }: Locale): string => {
    const renamed = after.locales.find(each => each.renamedFrom === code)
    return renamed ? `is called \`${renamed.code}\`` : 'is gone'
  }
  const gone = before.locales.filter(({ code }) => !has(after, code))
  const added = after.locales.filter(
    ({ code, renamedFrom }) => !has(before, code) && !gone.some(old => old.code === renamedFrom),
  )
  return [
    ...gone.map(locale => change('breaking', `the locale \`${locale.code}\` ${fate(locale)}`)),
    ...added.map(({ code }) => change('safe', `the locale \`${code}\` is new`)),
    ...(before.defaultLocale === after.defaultLocale || !has(after, before.defaultLocale)
      ? []
      : [change('risky', `requests without a locale mean \`${after.defaultLocale}\``)]),
  ]
}

/** The declaration of a content-type or component. */
export const declarationPath = (holder: Holder): Path => {
  if (holder.holder === 'component') return ['components', holder.uid]
  return holder.builtIn ? [holder.key] : ['contentTypes', holder.key]
}

function compareHolders(
  before: readonly Holder[],
  after: readonly Holder[],
  zoned: ReadonlySet<string>,
): readonly ApiChange[] {
  const found = (holder: Holder) =>
    after.find(each => holderLabel(each) === holderLabel(holder)) ??
    after.find(each => each.renamedFrom === holderLabel(holder))
  const matched = new Set(before.map(found))
  const changes = before.flatMap((old): readonly ApiChange[] => {
    const now = found(old)
    if (now) return [...compareType(old, now, zoned), ...compareAttributes(old, now)]
    const message = `\`${holderLabel(old)}\` is gone`
    return [{ level: 'breaking', scope: 'rest', message, now: null, was: declarationPath(old) }]
  })
  const added = after.filter(holder => !matched.has(holder))
  return [
    ...changes,
    ...added.map(
      (holder): ApiChange => ({
        level: 'safe',
        scope: 'both',
        message: `\`${holderLabel(holder)}\` is new`,
        now: declarationPath(holder),
        was: null,
      }),
    ),
  ]
}

const addressOf = (type: ContentType): string => `/${apiIdOf(type)}`

/** `zoned`: the components of dynamic zones. */
function compareType(old: Holder, now: Holder, zoned: ReadonlySet<string>): readonly ApiChange[] {
  const places = { now: declarationPath(now), was: declarationPath(old) }
  if (old.holder === 'component' || now.holder === 'component')
    return holderLabel(old) === holderLabel(now)
      ? []
      : [
          {
            // Only zones name their components in answers and bodies.
            level: zoned.has(holderLabel(old)) ? 'breaking' : 'safe',
            scope: 'rest',
            message: `the component \`${holderLabel(old)}\` is called \`${holderLabel(now)}\``,
            ...places,
          },
        ]
  const changes: readonly (readonly [boolean, ChangeLevel, string, ApiScope])[] = [
    [
      old.kind !== now.kind,
      'breaking',
      `\`${now.key}\` is a ${now.kind} type instead of a ${old.kind} type`,
      'rest',
    ],
    [
      old.kind === now.kind && addressOf(old) !== addressOf(now),
      'breaking',
      `the address ${addressOf(old)} becomes ${addressOf(now)}`,
      'rest',
    ],
    [
      old.draftAndPublish !== now.draftAndPublish,
      'risky',
      `\`${now.key}\` has ${now.draftAndPublish ? 'drafts now: lists show published documents only' : 'no drafts any more'}`,
      'both',
    ],
    [
      !old.localized && now.localized,
      'risky',
      `\`${now.key}\` is localized now: answers are of the default locale`,
      'both',
    ],
    [
      old.localized && !now.localized,
      'breaking',
      `\`${now.key}\` is not localized any more: answers have neither \`locale\` nor \`localizations\``,
      'both',
    ],
  ]
  return changes.flatMap(([isChanged, level, message, scope]) =>
    isChanged ? [{ level, scope, message, ...places }] : [],
  )
}

function compareAttributes(old: Holder, now: Holder): readonly ApiChange[] {
  const declared = (holder: Holder) => [...holder.attributes.values()].filter(({ system }) => !system)
  const found = ({ name }: Attribute) =>
    declared(now).find(each => each.name === name) ?? declared(now).find(each => each.renamedFrom === name)
  const matched = new Set(declared(old).map(found))
  const at = (holder: Holder, name: string): Path => [...declarationPath(holder), 'attributes', name]
  const of = (attribute: Attribute): string => `\`${attribute.name}\` of \`${holderLabel(now)}\``
  const changes = declared(old).flatMap((was): readonly ApiChange[] => {
    const after = found(was)
    if (!after)
      return was.private && !was.writable
        ? []
        : [
            {
              ...{ level: 'breaking', scope: 'rest' },
              message: `${of(was)} is gone`,
              ...{ now: null, was: at(old, was.name) },
            },
          ]
    const places = { now: at(now, after.name), was: at(old, was.name) }
    return compareAttribute(was, after, now).map(([level, message, scope = 'rest']) => ({
      level,
      scope,
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
      return { level, scope: 'both', message, now: at(now, attribute.name), was: null }
    }),
  ]
}
