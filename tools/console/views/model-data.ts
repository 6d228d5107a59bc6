import { asList, asText, type JsonRecord, type JsonValue, objectsOf } from '../api/json.ts'

interface ModelAttribute {
  readonly name: string
  /** `string`, `relation manyToOne`. */
  readonly type: string
  readonly flags: readonly ('required' | 'unique' | 'localized' | 'private')[]
  readonly targets: readonly string[]
  readonly counterpart: string | null
}

export interface ModelNode {
  readonly uid: string
  readonly name: string
  readonly kind: 'collection' | 'single' | 'component' | 'builtIn'
  readonly attributes: readonly ModelAttribute[]
  readonly location: JsonValue
}

export interface ModelEdge {
  readonly id: string
  readonly from: string
  readonly to: string
  readonly label: string
}

const FLAGS = ['required', 'unique', 'localized', 'private'] as const

/** The project's types and components, and the built-in types that they lead to. */
export function readModel(data: JsonRecord): readonly ModelNode[] {
  const types = objectsOf(data.types).map(type => readNode(type, kindOf(type)))
  const components = objectsOf(data.components).map(component => readNode(component, 'component'))
  const declared = [...types.filter(({ kind }) => kind !== 'builtIn'), ...components]
  const referenced = new Set(
    declared.flatMap(({ attributes }) => attributes.flatMap(({ targets }) => targets)),
  )
  return [...declared, ...types.filter(({ kind, uid }) => kind === 'builtIn' && referenced.has(uid))]
}

const kindOf = ({ builtIn, kind }: JsonRecord): ModelNode['kind'] =>
  builtIn === true ? 'builtIn' : kind === 'single' ? 'single' : 'collection'

const readNode = (info: JsonRecord, kind: ModelNode['kind']): ModelNode => ({
  uid: asText(info.uid),
  name: asText(info.name) || asText(info.uid),
  kind,
  location: info.location ?? null,
  attributes: objectsOf(info.attributes).map(attribute => ({
    name: asText(attribute.name),
    type: [asText(attribute.type), asText(attribute.relation)].filter(word => word !== '').join(' '),
    flags: FLAGS.filter(flag => attribute[flag] === true),
    targets: asList(attribute.targets).map(asText),
    counterpart: asText(attribute.counterpart) || null,
  })),
})

/** One edge for each relation, whether one or both sides name it, and for each component that an attribute contains. */
export function modelEdges(nodes: readonly ModelNode[]): readonly ModelEdge[] {
  const uids = new Set(nodes.map(({ uid }) => uid))
  const seen = new Set<string>()
  return nodes.flatMap(({ uid, attributes }) =>
    attributes.flatMap(({ name, targets, counterpart }) =>
      targets
        .filter(target => uids.has(target))
        .flatMap(target => {
          const other = `${target}.${counterpart} ${uid}`
          if (counterpart !== null && seen.has(other)) return []
          seen.add(`${uid}.${name} ${target}`)
          return [{ id: `${uid}.${name}>${target}`, from: uid, to: target, label: name }]
        }),
    ),
  )
}
