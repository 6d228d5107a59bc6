import { type DocumentNode, type FieldNode, Kind, type OperationDefinitionNode } from 'graphql'
import { failed, ok, type Result } from '../base/result.ts'
import { type Fault, fault } from '../faults/fault.ts'
import { graphqlQueryNames } from '../model/graphql-names.ts'
import type { ContentType, Model } from '../model/model.ts'
import type { LocaleChoice, Query } from '../query/query.ts'
import {
  argumentsOf,
  collect,
  fieldsOf,
  keyOf,
  type OperationContext,
  type OperationTerms,
} from './operation-context.ts'
import { parsePage } from './parse-page.ts'
import { parseRows } from './parse-rows.ts'
import { parseDocument } from './parse-selection.ts'

/** One root field of a query, and the key of its answer. */
export interface RootQuery {
  readonly as: string
  readonly query: Query
}

/** The root fields of a document's only query (spec 4.9) → the AST that REST parses to as well. */
export function parseOperation(
  document: DocumentNode,
  terms: OperationTerms,
): Result<readonly RootQuery[], Fault> {
  const operation = document.definitions.find(
    (node): node is OperationDefinitionNode => node.kind === Kind.OPERATION_DEFINITION,
  )
  if (!operation) return failed(fault('validation', 'The document has no operation'))
  const fragments = document.definitions.filter(node => node.kind === Kind.FRAGMENT_DEFINITION)
  const context = { ...terms, fragments: new Map(fragments.map(node => [node.name.value, node])) }
  return collect(fieldsOf(operation.selectionSet, context), field => parseRoot(field, context))
}

function parseRoot(field: FieldNode, context: OperationContext): Result<RootQuery, Fault> {
  const name = field.name.value
  for (const type of context.model.contentTypes.values()) {
    const names = graphqlQueryNames(type)
    if (name === names.one) return withKey(field, parseOne(type, field, context))
    if (name === names.many && type.kind === 'collection')
      return withKey(field, parseMany(type, field, context))
  }
  return failed(fault('validation', `Cannot query field "${name}" on type "Query".`))
}

const withKey = (field: FieldNode, parsed: Result<Query, Fault>): Result<RootQuery, Fault> =>
  parsed.ok ? ok({ as: keyOf(field), query: parsed.value }) : parsed

function parseOne(type: ContentType, field: FieldNode, context: OperationContext): Result<Query, Fault> {
  const given = argumentsOf(field, context)
  const shared = parseShared(type, field, context)
  if (!shared.ok) return shared
  const documentId = type.kind === 'single' ? null : String(given.id ?? '')
  return ok({ ...shared.value, take: { kind: 'one', documentId } })
}

function parseMany(type: ContentType, field: FieldNode, context: OperationContext): Result<Query, Fault> {
  const page = parsePage(argumentsOf(field, context).pagination, context.limits)
  if (!page.ok) return page
  const shared = parseShared(type, field, context)
  if (!shared.ok) return shared
  const total = fieldsOf(field.selectionSet, context).some(({ name }) => name.value === 'meta')
  return ok({ ...shared.value, take: { kind: 'many', page: page.value, total } })
}

function parseShared(
  type: ContentType,
  field: FieldNode,
  context: OperationContext,
): Result<Omit<Query, 'take'>, Fault> {
  const given = argumentsOf(field, context)
  const rows = parseRows(type, given)
  if (!rows.ok) return rows
  const selection = parseDocument(type, fieldsOf(field.selectionSet, context), context)
  if (!selection.ok) return selection
  return ok({
    kind: 'query',
    type,
    status: given.publicationState === 'PREVIEW' ? 'draft' : 'published',
    locale: localeOf(type, given.locale, context.model),
    selection: selection.value,
    ...rows.value,
    search: null,
    publication: null,
  })
}

function localeOf(type: ContentType, locale: unknown, model: Model): LocaleChoice {
  if (!type.localized || locale === 'all') return { kind: 'all' }
  return { kind: 'these', codes: [typeof locale === 'string' ? locale : model.defaultLocale] }
}
