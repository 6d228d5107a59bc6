import type { Chance } from './random.ts'

export const KINDS = ['oneToOne', 'oneToMany', 'manyToOne', 'manyToMany'] as const
type Kind = (typeof KINDS)[number]

/** A relation between two types of a project that is edited at random. */
export interface RandomRelation {
  readonly name: string
  readonly from: string
  readonly to: string
  readonly kind: Kind
  readonly twoWay: boolean
}

const INVERSES: Readonly<Record<Kind, Kind>> = {
  oneToOne: 'oneToOne',
  oneToMany: 'manyToOne',
  manyToOne: 'oneToMany',
  manyToMany: 'manyToMany',
}

export const newRelation = (random: Chance, name: string, from: string, to: string): RandomRelation => ({
  ...{ name, from, to },
  kind: random.one(KINDS),
  twoWay: random.onceIn(2),
})

export const isToMany = ({ kind }: RandomRelation): boolean => kind === 'oneToMany' || kind === 'manyToMany'

/** The attributes of the type `key` that declare the relation. The side that stores the link names the other one with `inversedBy`. */
export function sidesOf(
  { name, from, to, kind, twoWay }: RandomRelation,
  key: string,
): readonly (readonly [string, object])[] {
  const back = `${name}Back`
  const [here, there] = kind === 'oneToMany' ? ['mappedBy', 'inversedBy'] : ['inversedBy', 'mappedBy']
  const own = { type: 'relation', relation: kind, target: to, ...(twoWay && { [here]: back }) }
  const other = { type: 'relation', relation: INVERSES[kind], target: from, [there]: name }
  return [
    ...(key === from ? [[name, own] as const] : []),
    ...(key === to && twoWay ? [[back, other] as const] : []),
  ]
}
