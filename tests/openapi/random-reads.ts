import { type Attribute, type ContentType, type Holder, isLink, type Model } from '../../core/model/model.ts'

/** Reads of every content-type with random populates, fields and counts: the same at every run. */
export function randomReads(model: Model, count: number): readonly string[] {
  const random = numbers(20_261_123)
  const types = [...model.contentTypes.values()]
  return Array.from({ length: count }, (_, at) => {
    const type = types[at % types.length]
    if (!type) throw new Error('no content-types')
    return `${pathOf(type)}?${parametersOf(type, random).join('&')}`
  })
}

/** Of its documents. */
export const pathOf = (type: ContentType): string =>
  PATHS[type.uid] ?? `/api/${type.kind === 'single' ? type.key : type.pluralApiId}`

const PATHS: Readonly<Record<string, string>> = {
  'plugin::users-permissions.user': '/api/users',
  'plugin::users-permissions.role': '/api/users-permissions/roles',
  'plugin::upload.file': '/api/upload/files',
  'plugin::i18n.locale': '/api/i18n/locales',
}

export type Random = () => number

export function parametersOf(type: ContentType, random: Random): readonly string[] {
  const sometimes = (parameter: string, applies = true): readonly string[] =>
    applies && random() < 0.2 ? [parameter] : []
  return [
    ...populates(type, 'populate', 3, random),
    ...sometimes('status=draft', type.draftAndPublish),
    ...sometimes(`fields=${nameIn(type, random)}`),
    ...sometimes(`sort=${nameIn(type, random)}`),
    ...sometimes('locale=*', type.localized),
    ...sometimes('pagination[after]='),
    ...sometimes('filters[nothing]=1'),
  ]
}

const nameIn = ({ attributes }: Holder, random: Random): string =>
  [...attributes.keys()][Math.floor(random() * attributes.size)] ?? 'id'

function populates(holder: Holder, at: string, depth: number, random: Random): readonly string[] {
  if (random() < 0.15) return [`${at}=*`]
  return [...holder.attributes.values()]
    .filter(({ kind }) => kind !== 'scalar')
    .filter(() => random() < 0.6)
    .flatMap(attribute => populate(attribute, `${at}[${attribute.name}]`, depth, random))
}

function populate(attribute: Attribute, at: string, depth: number, random: Random): readonly string[] {
  if (attribute.kind === 'zone') {
    if (random() < 0.3 || depth === 0) return [`${at}=true`]
    return attribute.components.map(component => {
      const inside = `${at}[on][${component.uid}]`
      return populates(component, `${inside}[populate]`, depth - 1, random)[0] ?? `${inside}=true`
    })
  }
  if (attribute.kind === 'morph' || depth === 0) return [`${at}=true`]
  if (random() < 0.15) return [`${at}[count]=true`]
  const behind = isLink(attribute) ? attribute.target : 'component' in attribute ? attribute.component : null
  const below = behind ? populates(behind, `${at}[populate]`, depth - 1, random) : []
  return below.length === 0 ? [`${at}=true`] : below
}

export function numbers(seed: number): Random {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}
