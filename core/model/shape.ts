import { isStoredLink, type StorageLayout, type StoredLink } from './layout.ts'
import type { Attribute, Component, ContentType, Holder, Model } from './model.ts'
import { present } from './present.ts'
import { type AttributeShape, ownerName, type SchemaShape } from './storage.ts'

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

const versionsOf = (holder: ContentType | Component, { defaultLocale }: Model) =>
  holder.holder === 'component'
    ? { drafts: false, locale: null }
    : { drafts: holder.draftAndPublish, locale: holder.localized ? defaultLocale : null }

function attributeShape(
  holder: Holder,
  attribute: Attribute,
  layout: StorageLayout,
): readonly AttributeShape[] {
  if (attribute.system) return []
  const { name, localized, renamedFrom } = attribute
  const base = { name, localized, ...present({ renamedFrom }) }
  if (attribute.kind === 'scalar') return [{ kind: 'value', ...base, column: layout.column(holder, name) }]
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
