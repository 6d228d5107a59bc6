import type { FieldNode } from 'graphql'
import { failed, ok, type Result } from '../base/result.ts'
import { type Fault, fault } from '../faults/fault.ts'
import { graphqlTypeName } from '../model/graphql-names.ts'
import {
  type Component,
  type ComponentAttribute,
  type ContentType,
  type Holder,
  isLink,
  type LinkAttribute,
  type ScalarAttribute,
  type ZoneAttribute,
} from '../model/model.ts'
import type { Page, Populate, Selection } from '../query/query.ts'
import {
  argumentsOf,
  collect,
  fieldsBelow,
  fieldsOf,
  keyOf,
  type OperationContext,
} from './operation-context.ts'
import { parsePage } from './parse-page.ts'
import { parseRows } from './parse-rows.ts'

/** `data { id attributes { … } }` of a response or a collection. */
export const parseDocument = (
  type: ContentType,
  fields: readonly FieldNode[],
  context: OperationContext,
): Result<Selection, Fault> =>
  parseAttributes(type, fieldsBelow(fields, ['data', 'attributes'], context), context)

/** The fields of `<Type>` or of a component's type: scalars are fields, all else is populated under its key. */
export function parseAttributes(
  holder: Holder,
  fields: readonly FieldNode[],
  context: OperationContext,
): Result<Selection, Fault> {
  const scalars: ScalarAttribute[] = []
  const deeper: FieldNode[] = []
  for (const field of fields) {
    const attribute = holder.attributes.get(field.name.value)
    if (!attribute && field.name.value !== '__typename') return failed(unknownField(field, holder))
    if (attribute?.kind === 'scalar') scalars.push(attribute)
    else if (attribute) deeper.push(field)
  }
  const populate = collect(deeper, field => parsePopulate(holder, field, context))
  return populate.ok ? ok({ fields: scalars, named: true, populate: populate.value }) : populate
}

const unknownField = (field: FieldNode, holder: Holder): Fault =>
  fault('validation', `Cannot query field "${field.name.value}" on type "${graphqlTypeName(holder)}".`)

function parsePopulate(holder: Holder, field: FieldNode, context: OperationContext): Result<Populate, Fault> {
  const attribute = holder.attributes.get(field.name.value)
  if (attribute?.kind === 'zone') return parseZone(attribute, field, context)
  if (attribute?.kind === 'component') return parseComponent(attribute, field, context)
  if (attribute && isLink(attribute)) return parseLink(attribute, field, context)
  return failed(unknownField(field, holder))
}

const base = (field: FieldNode) => ({ as: keyOf(field), asked: 'named', count: false }) as const

function parseLink(
  attribute: LinkAttribute,
  field: FieldNode,
  context: OperationContext,
): Result<Populate, Fault> {
  const given = argumentsOf(field, context)
  const rows = parseRows(attribute.target, given)
  if (!rows.ok) return rows
  const page = pageOf(attribute.many, given, context)
  if (!page.ok) return page
  const selection = parseDocument(attribute.target, fieldsOf(field.selectionSet, context), context)
  if (!selection.ok) return selection
  return ok({
    kind: 'link',
    attribute,
    ...base(field),
    scope: null,
    page: page.value,
    ...rows.value,
    selection: selection.value,
  })
}

function parseComponent(
  attribute: ComponentAttribute,
  field: FieldNode,
  context: OperationContext,
): Result<Populate, Fault> {
  const given = argumentsOf(field, context)
  const rows = parseRows(attribute.component, given)
  if (!rows.ok) return rows
  const page = pageOf(attribute.repeatable, given, context)
  if (!page.ok) return page
  const selection = parseAttributes(attribute.component, fieldsOf(field.selectionSet, context), context)
  if (!selection.ok) return selection
  return ok({
    kind: 'component',
    attribute,
    ...base(field),
    page: page.value,
    ...rows.value,
    selection: selection.value,
  })
}

const pageOf = (
  many: boolean,
  given: Readonly<Record<string, unknown>>,
  context: OperationContext,
): Result<Page | null, Fault> => (many ? parsePage(given.pagination, context.limits) : ok(null))

/** Each component answers with what the fragments on its type select. */
function parseZone(
  attribute: ZoneAttribute,
  field: FieldNode,
  context: OperationContext,
): Result<Populate, Fault> {
  const components = collect(attribute.components, component => {
    const selection = parseAttributes(component, fieldsOn(component, field, context), context)
    return selection.ok ? ok({ component, selection: selection.value }) : selection
  })
  if (!components.ok) return components
  return ok({ kind: 'zone', attribute, ...base(field), components: components.value })
}

function fieldsOn(component: Component, field: FieldNode, context: OperationContext): readonly FieldNode[] {
  const name = graphqlTypeName(component)
  return (field.selectionSet?.selections ?? []).flatMap(node => {
    if (node.kind === 'Field') return []
    const fragment = node.kind === 'InlineFragment' ? node : context.fragments.get(node.name.value)
    return fragment?.typeCondition?.name.value === name ? fieldsOf(fragment.selectionSet, context) : []
  })
}
