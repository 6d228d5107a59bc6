import { isDeepStrictEqual } from 'node:util'
import { SCALAR_NAMES } from '../../../core/graphql/sdl/scalar-names.ts'
import type {
  Attribute,
  ComponentAttribute,
  Holder,
  RelationAttribute,
  ScalarAttribute,
  ValueType,
  ZoneAttribute,
} from '../../../core/model/model.ts'

/** `breaking`: clients fail; `risky`: some clients or writes may; `safe`: none notices. */
export type ChangeLevel = 'breaking' | 'risky' | 'safe'

/** The protocols whose clients notice a change. `rest`: GraphQL's schema shows it by itself, or it has no such thing. */
export type ApiScope = 'rest' | 'graphql' | 'both'

/** `book`, `shop.size`. */
export const holderLabel = (holder: Holder): string =>
  holder.holder === 'content-type' ? holder.key : holder.uid

/** A create without it is refused. */
export const isNeeded = (attribute: Attribute): boolean =>
  attribute.required &&
  attribute.writable &&
  (attribute.kind !== 'scalar' || (attribute.default === undefined && attribute.generate !== true))

/** A sentence about the attribute. Default scope: `rest`. */
type AttributeChange = readonly [level: ChangeLevel, message: string, scope?: ApiScope]

/** The changes between two versions of an attribute. `holder`: of the new one. */
export function compareAttribute(was: Attribute, now: Attribute, holder: Holder): readonly AttributeChange[] {
  const drafts = holder.holder === 'content-type' && holder.draftAndPublish
  const changes: readonly (AttributeChange | null)[] = [
    was.name !== now.name ? ['breaking', `is called \`${now.name}\``] : null,
    !was.private && now.private ? ['breaking', 'is private: no answer has it, no filter may use it'] : null,
    was.private && !now.private ? ['risky', 'is not private any more: answers have it', 'both'] : null,
    was.writable && !now.writable ? ['breaking', 'cannot be written any more'] : null,
    !isNeeded(was) && isNeeded(now)
      ? [drafts ? 'risky' : 'breaking', 'is required: writes without it are refused', 'both']
      : null,
    was.required && !now.required ? ['risky', 'is not required any more: answers may have null'] : null,
    was.localized !== now.localized && holder.holder === 'content-type' && holder.localized
      ? ['risky', now.localized ? 'differs by locale' : 'is shared by all locales', 'both']
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
        : ['risky', 'takes fewer kinds of files', 'both'],
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
  holderLabel(was) === holderLabel(now) || now.renamedFrom === holderLabel(was)

const compareRelations = (
  was: RelationAttribute,
  now: RelationAttribute,
): readonly (AttributeChange | null)[] => [
  isSameHolder(was.target, now.target) ? null : ['breaking', `leads to \`${now.target.key}\``],
  was.many === now.many
    ? null
    : ['breaking', now.many ? 'is a list now' : 'is one document instead of a list'],
  was.relation !== now.relation && was.many === now.many
    ? ['risky', `is ${now.relation} instead of ${was.relation}`, 'both']
    : null,
]

function compareScalars(was: ScalarAttribute, now: ScalarAttribute): readonly (AttributeChange | null)[] {
  const gone = (was.values ?? []).filter(value => !now.values?.includes(value))
  const added = (now.values ?? []).filter(value => was.values && !was.values.includes(value))
  return [
    was.type === now.type ? null : compareTypes(was.type, now.type),
    was.type === now.type && gone.length > 0
      ? ['breaking', `has no value ${gone.join(', ')} any more`]
      : null,
    added.length > 0 ? ['risky', `may be ${added.join(', ')}, which clients do not know`] : null,
    !was.unique && now.unique
      ? ['risky', 'is unique: writes of a value that exists are refused', 'both']
      : null,
    was.generate === true && now.generate !== true ? ['risky', 'is not generated any more', 'both'] : null,
    now.regex && String(was.regex) !== String(now.regex) ? ['risky', 'has another pattern', 'both'] : null,
    isDeepStrictEqual(was.default, now.default) ? null : ['risky', 'has another default', 'both'],
    ...compareBounds(was, now, ['min', 'max', 'minLength', 'maxLength']),
  ]
}

/** The types that accept all values of a type, and answer them in the same form. */
const WIDER: { readonly [Type in ValueType]?: readonly ValueType[] } = {
  string: ['text', 'richtext'],
  text: ['richtext'],
  richtext: ['text'],
  email: ['string', 'text', 'richtext'],
  uid: ['string', 'text', 'richtext'],
  decimal: ['float'],
}

/** Types whose values have one form in JSON, so that it depends on the value whether a client notices the other type. */
const SAME_FORM: readonly (readonly ValueType[])[] = [
  ...(['date', 'time', 'datetime', 'biginteger'] as const).map(
    type => ['string', 'text', 'richtext', 'uid', 'email', 'enumeration', type] as const,
  ),
  ['integer', 'float', 'decimal'],
  ['json', 'array'],
  ['json', 'blocks'],
]

/** The change of REST, and of GraphQL if the scalar stays the same: the schema does not show it then. */
function compareTypes(was: ValueType, now: ValueType): AttributeChange {
  const message = `is \`${now}\` instead of \`${was}\``
  const isEnumeration = was === 'enumeration' || now === 'enumeration'
  const scope = SCALAR_NAMES[was] === SCALAR_NAMES[now] && !isEnumeration ? 'both' : 'rest'
  if (was === 'password') return ['risky', `${message}: answers have it`, scope]
  if (WIDER[was]?.includes(now)) return ['safe', message, scope]
  const isSame = SAME_FORM.some(types => types.includes(was) && types.includes(now))
  return [isSame ? 'risky' : 'breaking', message, scope]
}

type Bound = 'min' | 'max' | 'minLength' | 'maxLength'
type Bounds = { readonly [Key in Bound]?: number | string }

/** Tighter bounds refuse writes that were accepted. */
function compareBounds(was: Bounds, now: Bounds, keys: readonly Bound[]): readonly AttributeChange[] {
  return keys.flatMap((key): readonly AttributeChange[] => {
    const [old, own] = [was[key], now[key]].map(bound => (bound === undefined ? null : Number(bound)))
    if (own === null || own === undefined || own === old) return []
    const isTighter = old === null || old === undefined || (key.startsWith('min') ? own > old : own < old)
    return isTighter ? [['risky', `has \`${key}\` ${own}: writes beyond it are refused`, 'both']] : []
  })
}
