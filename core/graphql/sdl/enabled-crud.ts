import { type Attribute, type ContentType, type Holder, isLink } from '../../model/model.ts'
import type { ShadowCrudDeclaration } from '../../project/settings/declarations.ts'

export type ShadowAction = 'find' | 'findOne' | 'create' | 'update' | 'delete'

/** The kinds of types that an attribute may appear in. */
export type ShadowSide = 'output' | 'input' | 'filters'

/** The enabled parts of the generated schema (reference/graphql.md#9-extension-service; project file, "graphql.shadowCRUD"). Everything is enabled by default. */
export interface EnabledCrud {
  shows(type: ContentType): boolean
  allows(type: ContentType, action: ShadowAction): boolean
  /** `create<T>Localization` is enabled. */
  localizes(type: ContentType): boolean
  has(holder: Holder, attribute: Attribute, side: ShadowSide): boolean
}

/** `declared`: declarations by the uid of a content-type or component. */
export function openShadowCrud(declared: ReadonlyMap<string, ShadowCrudDeclaration>): EnabledCrud {
  const of = ({ uid }: Holder) => declared.get(uid)
  const shows = (type: ContentType) => of(type)?.enabled !== false
  const mutates = (type: ContentType) => of(type)?.mutations !== false
  const writes = (type: ContentType) =>
    (['create', 'update', 'delete'] as const).some(action => of(type)?.actions[action] !== false)
  return {
    shows,
    allows(type, action) {
      const isRead = action === 'find' || action === 'findOne'
      const allowed = isRead ? of(type)?.queries !== false : mutates(type)
      return shows(type) && allowed && of(type)?.actions[action] !== false && isKnown(type, action)
    },
    localizes: type =>
      shows(type) &&
      type.localized &&
      mutates(type) &&
      writes(type) &&
      of(type)?.actions.createLocalization !== false,
    has(holder, attribute, side) {
      const field = of(holder)?.fields[attribute.name]
      if (field && !(field.enabled && field[side])) return false
      return !isLink(attribute) || shows(attribute.target)
    },
  }
}

/** A single type has neither `findOne` nor `create`: its first update creates it. */
const isKnown = ({ kind }: ContentType, action: ShadowAction): boolean =>
  kind === 'collection' || (action !== 'findOne' && action !== 'create')
