import { type Attribute, type ContentType, type Holder, isLink } from '../../model/model.ts'
import type { ShadowCrudDeclaration } from '../../project/settings/declarations.ts'

export type ShadowAction = 'find' | 'findOne' | 'create' | 'update' | 'delete'

/** The generated types that an attribute may appear in. */
export type ShadowSide = 'output' | 'input' | 'filters'

/**
 * The enabled parts of the generated schema, which Strapi calls shadow CRUD (reference/graphql.md#9-extension-service; project
 * file, "graphql.shadowCRUD"). Everything is enabled by default.
 */
export interface EnabledCrud {
  /** The types, queries and mutations of the content-type. */
  hasType(type: ContentType): boolean
  hasAction(type: ContentType, action: ShadowAction): boolean
  /** `create<T>Localization` */
  hasLocalization(type: ContentType): boolean
  /** False also for an attribute that links to a disabled type. */
  hasAttribute(holder: Holder, attribute: Attribute, side: ShadowSide): boolean
}

/** `declared`: declarations by the uid of a content-type or component. */
export function openShadowCrud(declared: ReadonlyMap<string, ShadowCrudDeclaration>): EnabledCrud {
  const of = ({ uid }: Holder) => declared.get(uid)
  const hasType = (type: ContentType) => of(type)?.enabled !== false
  const hasMutations = (type: ContentType) => of(type)?.mutations !== false
  const hasSomeWrite = (type: ContentType) =>
    (['create', 'update', 'delete'] as const).some(action => of(type)?.actions[action] !== false)
  return {
    hasType,
    hasAction(type, action) {
      const isRead = action === 'find' || action === 'findOne'
      const allowed = isRead ? of(type)?.queries !== false : hasMutations(type)
      return hasType(type) && allowed && of(type)?.actions[action] !== false && existsFor(type, action)
    },
    hasLocalization: type =>
      hasType(type) &&
      type.localized &&
      hasMutations(type) &&
      hasSomeWrite(type) &&
      of(type)?.actions.createLocalization !== false,
    hasAttribute(holder, attribute, side) {
      const field = of(holder)?.fields[attribute.name]
      if (field && !(field.enabled && field[side])) return false
      return !isLink(attribute) || hasType(attribute.target)
    },
  }
}

/** A single type has neither `findOne` nor `create`: its first update creates it. */
const existsFor = ({ kind }: ContentType, action: ShadowAction): boolean =>
  kind === 'collection' || (action !== 'findOne' && action !== 'create')
