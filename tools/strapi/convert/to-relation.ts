import type { Json } from '../../../core/project/settings/settings.ts'
import { attributeName, type Names } from '../names.ts'
import type { LiteralMapping } from '../read/literal-value.ts'
import { textAt } from '../read/literal-value.ts'

/** What a type of attribute says besides what all say, in order; or why there is no attribute. */
export type OwnKeys =
  | { readonly type: string; readonly keys: Readonly<Record<string, Json | undefined>> }
  | string

const KINDS: ReadonlySet<string> = new Set(['oneToOne', 'oneToMany', 'manyToOne', 'manyToMany'])

const BUILT_IN: ReadonlyMap<string, string> = new Map([
  ['plugin::users-permissions.user', 'user'],
  ['plugin::users-permissions.role', 'role'],
  ['plugin::upload.file', 'file'],
  ['plugin::i18n.locale', 'plugin::i18n.locale'],
])

export function toRelation(given: LiteralMapping, names: Names): OwnKeys {
  const relation = textAt(given, 'relation') ?? ''
  const wanted = textAt(given, 'target') ?? ''
  if (relation.startsWith('morph'))
    return `a \`${relation}\` relation leads to documents of any content-type, which Plinth has not; a relation for each content-type can take its place`
  if (!KINDS.has(relation)) return `Plinth has no relation \`${relation}\``
  if (wanted.startsWith('admin::'))
    return `it leads to \`${wanted}\`, the administrators of Strapi's panel, which Plinth has not`
  const target = BUILT_IN.get(wanted) ?? names.types.get(wanted)?.key
  if (target === undefined) return `it leads to \`${wanted}\`, which did not come over`
  const [inversedBy, mappedBy] = [textAt(given, 'inversedBy'), textAt(given, 'mappedBy')]
  return {
    type: 'relation',
    keys: {
      relation,
      target,
      inversedBy: inversedBy === undefined ? undefined : attributeName(inversedBy),
      mappedBy: mappedBy === undefined ? undefined : attributeName(mappedBy),
    },
  }
}
