import { memoize } from '../base/memo.ts'
import { present } from '../base/plain-data.ts'
import {
  attributeColumns,
  fitsIndex,
  identityColumn,
  impossibleIndexes,
  oneOfCheck,
  optionalColumn,
  PUBLISHED,
  requiredColumn,
  STATUS_VALUES,
  toIndex,
  uniqueIndex,
  valueChecks,
  versionLocaleColumn,
} from './columns.ts'
import {
  formerTableName,
  isStoredLink,
  type SchemaInput,
  type StorageLayout,
  type StoredLink,
} from './layout.ts'
import {
  type Attribute,
  type Component,
  type ContentType,
  componentsOf,
  type Holder,
  type Model,
} from './model.ts'
import {
  type AttributeShape,
  type Column,
  type ComponentTable,
  type Index,
  ownerName,
  type SchemaShape,
  type Table,
} from './storage.ts'

/** One row for each component of a (document, status, locale), whatever its owner. */
export function buildComponentTable(component: Component, blueprint: SchemaInput): Table {
  const { layout } = blueprint
  const table = layout.componentTable(component)
  const attributes = [...component.attributes.values()]
  return {
    name: table.name,
    serves: `component \`${component.uid}\``,
    columns: [...ownerColumns(component, blueprint), ...attributeColumns(component, blueprint)],
    primaryKey: [table.id, table.status],
    indexes: [ownerIndex(table), ...attributes.flatMap(each => attributeIndexes(component, each, blueprint))],
    checks: [
      oneOfCheck(table.name, table.status, STATUS_VALUES),
      ...valueChecks(component, table.name, layout),
    ],
    foreignKeys: [],
    versioned: true,
    shape: toSchemaShape(component, blueprint.model, layout),
    ...present({
      renamedFrom: formerTableName(component),
      impossibleIndexes: impossibleIndexes(component, each => uniqueValues(component, each, layout)),
    }),
  }
}

function ownerColumns(
  component: Component,
  { model, layout, renamedLocales }: SchemaInput,
): readonly Column[] {
  const table = layout.componentTable(component)
  const owner = { ...requiredColumn(table.owner, 'varchar(255)'), only: ownersOf(component, model) }
  const renamed = renamedOwners(component, model)
  return [
    identityColumn(table.id),
    requiredColumn(table.status, 'varchar(255)'),
    renamed.size === 0 ? owner : { ...owner, renamedValues: renamed },
    requiredColumn(table.ownerKey, 'integer'),
    versionLocaleColumn(optionalColumn(table.locale, 'varchar(255)'), model, renamedLocales),
    requiredColumn(table.position, 'double precision'),
  ]
}

const ownerIndex = ({ name, owner, ownerKey, status, locale }: ComponentTable): Index =>
  toIndex(name, [owner, ownerKey, status, locale])

/** Components that all locales share have locale NULL, which is distinct in an index: there only the check before the write applies. */
function attributeIndexes(
  component: Component,
  attribute: Attribute,
  { layout }: SchemaInput,
): readonly Index[] {
  if (attribute.kind === 'scalar')
    return attribute.unique && fitsIndex(attribute) ? [uniqueValues(component, attribute, layout)] : []
  if (!isStoredLink(attribute)) return []
  const link = layout.link(component, attribute.name)
  if (link.kind === 'table') return []
  const { name } = layout.componentTable(component)
  return [link.key, link.draftKey].flatMap(key =>
    key === null ? [] : [toIndex(name, [key], { column: key, notNull: true })],
  )
}

function uniqueValues(component: Component, { name: attribute }: Attribute, layout: StorageLayout): Index {
  const { name, locale } = layout.componentTable(component)
  return uniqueIndex(name, [layout.column(component, attribute), locale], PUBLISHED)
}

/** An attribute that holds a component, alone, in a list or in a dynamic zone. */
interface Use {
  readonly holder: Holder
  readonly attribute: Attribute
}

const usesIn = memoize((model: Model): ReadonlyMap<Component, readonly Use[]> => {
  const uses = new Map<Component, Use[]>()
  for (const holder of [...model.contentTypes.values(), ...model.components.values()]) {
    for (const attribute of holder.attributes.values())
      for (const component of componentsOf(attribute)) {
        const known = uses.get(component)
        if (known) known.push({ holder, attribute })
        else uses.set(component, [{ holder, attribute }])
      }
  }
  return uses
})

const usesOf = (component: Component, model: Model): readonly Use[] => usesIn(model).get(component) ?? []

/** Old owner name → new owner name, for component rows whose owners or their attributes were renamed. */
const renamedOwners = (component: Component, model: Model): ReadonlyMap<string, string> =>
  new Map(
    usesOf(component, model).flatMap(({ holder, attribute }) =>
      formerNames(holder, attribute).map((former): [string, string] => [
        former,
        ownerName(holder, attribute.name),
      ]),
    ),
  )

/** The valid owner names of the component's rows. */
const ownersOf = (component: Component, model: Model): readonly string[] =>
  usesOf(component, model).map(({ holder, attribute }) => ownerName(holder, attribute.name))

/** Owner and attribute may have been renamed together or one after the other. */
function formerNames(holder: Holder, attribute: Attribute): readonly string[] {
  const current = holder.holder === 'component' ? holder.uid : holder.key
  const holders = [current, ...(holder.renamedFrom === undefined ? [] : [holder.renamedFrom])]
  const attributes = [attribute.name, ...(attribute.renamedFrom === undefined ? [] : [attribute.renamedFrom])]
  return holders.flatMap(owner => attributes.map(name => `${owner}.${name}`)).slice(1)
}

export function toSchemaShape(holder: Holder, model: Model, layout: StorageLayout): SchemaShape {
  return {
    holder: holder.holder,
    uid: holder.uid,
    ...present({ renamedFrom: formerUid(holder) }),
    ...versionsOf(holder, model),
    attributes: [...holder.attributes.values()].flatMap(attribute =>
      attributeShape(holder, attribute, layout),
    ),
  }
}

const formerUid = ({ holder, renamedFrom }: Holder): string | undefined =>
  holder === 'component' || renamedFrom === undefined ? renamedFrom : `api::${renamedFrom}.${renamedFrom}`

const versionsOf = (holder: ContentType | Component, { defaultLocale, locales }: Model) =>
  holder.holder === 'component'
    ? { drafts: false, locale: null }
    : {
        single: holder.kind === 'single',
        drafts: holder.draftAndPublish,
        locale: holder.localized ? defaultLocale : null,
        defaultLocale: locales.flatMap(({ code, renamedFrom }) =>
          code === defaultLocale ? [...(renamedFrom === undefined ? [] : [renamedFrom]), code] : [],
        ),
      }

function attributeShape(
  holder: Holder,
  attribute: Attribute,
  layout: StorageLayout,
): readonly AttributeShape[] {
  if (attribute.system) return []
  const { name, localized, renamedFrom } = attribute
  const base = { name, localized, ...present({ renamedFrom }) }
  if (attribute.kind === 'scalar')
    return [{ kind: 'value', ...base, column: layout.column(holder, name), unique: attribute.unique }]
  if (attribute.kind === 'relation' && attribute.side === 'inverse' && attribute.counterpart) {
    const { target, counterpart } = attribute
    return [{ kind: 'inverse', ...base, target: target.uid, counterpart: counterpart.name }]
  }
  if (isStoredLink(attribute)) return [{ ...base, ...linkShape(attribute), link: layout.link(holder, name) }]
  if (attribute.kind !== 'component' && attribute.kind !== 'zone') return []
  const isZone = attribute.kind === 'zone'
  const components = isZone ? attribute.components : [attribute.component]
  return [
    {
      kind: 'parts',
      ...base,
      owner: ownerName(holder, name),
      components: components.map(({ uid }) => uid),
      many: isZone || attribute.repeatable,
    },
  ]
}

function linkShape(attribute: StoredLink) {
  const other = attribute.kind === 'relation' ? attribute.counterpart : null
  return {
    kind: 'link',
    target: attribute.target.uid,
    exclusive: other !== null && attribute.kind === 'relation' && attribute.relation === 'oneToOne',
    counterpart: other && { name: other.name, ...present({ renamedFrom: other.renamedFrom }) },
  } as const
}
