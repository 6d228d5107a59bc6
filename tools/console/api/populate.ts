import { type ApiSchema, type AttributeInfo, findType, labelOf, type TypeInfo } from './schema.ts'

/** Docs/rest.md: at most 10 levels and 500 attributes; no user needs a form of more levels than this. */
const MAX_DEPTH = 6

/** `populate` of a form: everything that the caller may read. */
export const populateForm = (schema: ApiSchema, type: TypeInfo): Record<string, unknown> =>
  populateOf(schema, type.attributes, MAX_DEPTH)

export function populateOf(
  schema: ApiSchema,
  attributes: readonly AttributeInfo[],
  depth: number,
): Record<string, unknown> {
  const entries = attributes.flatMap(attribute => {
    const value = attribute.readable && depth > 0 ? populateAttribute(schema, attribute, depth) : undefined
    return value === undefined ? [] : [[attribute.name, value] as const]
  })
  return Object.fromEntries(entries)
}

export const showsDrafts = (type: TypeInfo): boolean => type.draftAndPublish && type.actions.has('readDrafts')

/** Whether a document without drafts shows linked drafts: only if the caller may read the drafts of all linked types. */
export function linksDrafts(schema: ApiSchema, type: TypeInfo): boolean {
  const targets = targetsOf(schema, type.attributes).filter(target => target.draftAndPublish)
  return targets.length > 0 && targets.every(showsDrafts)
}

/** The target types of relations, including those in components. */
function targetsOf(
  schema: ApiSchema,
  attributes: readonly AttributeInfo[],
  depth = MAX_DEPTH,
): readonly TypeInfo[] {
  return attributes.flatMap(({ type, target, component, components }) => {
    if (type === 'relation') return findType(schema, target) ?? []
    if (depth === 0 || (type !== 'component' && type !== 'dynamiczone')) return []
    const names = type === 'component' ? [component ?? ''] : components
    return names.flatMap(name => targetsOf(schema, schema.components.get(name) ?? [], depth - 1))
  })
}

function populateAttribute(schema: ApiSchema, attribute: AttributeInfo, depth: number): unknown {
  switch (attribute.type) {
    case 'relation': {
      const target = findType(schema, attribute.target)
      if (!target) return undefined
      const label = labelOf(target)
      return { fields: label === null ? ['documentId'] : [label] }
    }
    case 'media':
      return true
    case 'component':
      return populateComponent(schema, attribute.component ?? '', depth)
    case 'dynamiczone':
      return {
        on: Object.fromEntries(
          attribute.components.map(name => [name, populateComponent(schema, name, depth)]),
        ),
      }
    default:
      return undefined
  }
}

function populateComponent(schema: ApiSchema, name: string, depth: number): unknown {
  const inner = populateOf(schema, schema.components.get(name) ?? [], depth - 1)
  return Object.keys(inner).length === 0 ? true : { populate: inner }
}
