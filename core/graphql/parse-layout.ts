import type { FieldNode } from 'graphql'
import { graphqlEnumValue, graphqlTypeName, graphqlWrapperNames } from '../model/graphql-names.ts'
import {
  type ContentType,
  type Holder,
  isLink,
  type LinkAttribute,
  type ScalarAttribute,
} from '../model/model.ts'
import type { LaidOut, LinkPart } from '../plan/layout.ts'
import { answerKey } from './answer-key.ts'
import { type Fields, fieldsBelow } from './collect-fields.ts'
import type { OperationContext } from './operation-context.ts'

/** A layout in the making. What cannot be said in one is answered field by field instead. */
export interface Laying {
  readonly context: OperationContext
  /** Keys of what the schema promises not to be null. */
  readonly promised: Set<string>
}

/** The properties of an entity, or null where they are not to be had as a layout. `data`: the key that it lies under. */
export function layOutEntity(
  type: ContentType,
  nodes: readonly FieldNode[],
  data: string,
  laying: Laying,
): readonly LaidOut[] | null {
  const name = graphqlTypeName(type)
  const { entity } = graphqlWrapperNames(name)
  return layOutAll(fieldsBelow(nodes, entity, laying.context), (as, below) => {
    switch (below[0].name.value) {
      case '__typename':
        return { as, kind: 'constant', value: entity }
      case 'id':
        return { as, kind: 'documentId' }
      default: {
        const place = { data, attributes: as }
        const fields = layOutAttributes(type, fieldsBelow(below, name, laying.context), {
          ...laying,
          ...place,
        })
        return fields && { as, kind: 'object', fields }
      }
    }
  })
}

type Nodes = readonly [FieldNode, ...FieldNode[]]

/** Columns carry the keys, and PostgreSQL cuts longer names. */
const LONGEST_KEY = 63

function layOutAll(
  fields: Fields,
  layOut: (as: string, nodes: Nodes) => LaidOut | null,
): readonly LaidOut[] | null {
  const laid: LaidOut[] = []
  for (const [as, nodes] of fields) {
    const one = as.length > LONGEST_KEY ? null : layOut(as, nodes)
    if (!one) return null
    laid.push(one)
  }
  return laid
}

/** In which wrappers; both null in components. */
interface Place extends Laying {
  readonly data: string | null
  readonly attributes: string | null
}

function layOutAttributes(holder: Holder, fields: Fields, place: Place): readonly LaidOut[] | null {
  return layOutAll(fields, (as, nodes) => {
    const name = nodes[0].name.value
    if (name === '__typename') return { as, kind: 'constant', value: graphqlTypeName(holder) }
    if (name === 'id' && holder.holder === 'component') return { as, kind: 'id' }
    const attribute = holder.attributes.get(name)
    if (!attribute || attribute.kind === 'zone') return null
    if (attribute.required && !isLink(attribute)) place.promised.add(as)
    if (attribute.kind === 'scalar') return isPlain(attribute) ? { as, kind: 'scalar', attribute } : null
    const of = answerKey({ ...place, key: as }, attribute.name)
    if (attribute.kind !== 'component') return layOutLink(attribute, nodes, { ...place, as, of })
    const { component } = attribute
    const below = fieldsBelow(nodes, graphqlTypeName(component), place.context)
    const inner = layOutAttributes(component, below, { ...place, data: null, attributes: null })
    return inner && { as, kind: 'component', of, fields: inner }
  })
}

/** Whether PostgreSQL writes the value as GraphQL does. */
function isPlain({ type, values }: ScalarAttribute): boolean {
  if (type === 'enumeration') return (values ?? []).every(value => graphqlEnumValue(value) === value)
  return !WRITTEN_OTHERWISE.has(type)
}

const WRITTEN_OTHERWISE: ReadonlySet<string> = new Set(['biginteger', 'timestamp', 'time', 'id'])

interface LinkPlace extends Laying {
  readonly as: string
  readonly of: string
}

/** `data` of a relation under one key: under two, each would be a statement's part of its own. */
function layOutLink(
  { target, many }: LinkAttribute,
  nodes: readonly FieldNode[],
  { as, of, ...laying }: LinkPlace,
): LaidOut | null {
  const names = graphqlWrapperNames(graphqlTypeName(target))
  const wrapper = many ? names.relation : names.response
  const fields: LinkPart[] = []
  for (const [key, below] of fieldsBelow(nodes, wrapper, laying.context)) {
    if (key.length > LONGEST_KEY) return null
    if (below[0].name.value === '__typename') {
      fields.push({ as: key, kind: 'constant', value: wrapper })
      continue
    }
    if (below[0].name.value !== 'data' || fields.some(({ kind }) => kind === 'rows')) return null
    const entity: readonly LaidOut[] | null = layOutEntity(target, below, key, laying)
    if (!entity) return null
    fields.push({ as: key, kind: 'rows', fields: entity })
  }
  return { as, kind: 'link', of, fields }
}
