import type { FieldNode } from 'graphql'
import { RequestFault } from '../../faults/fault.ts'
import type { ContentType, Model } from '../../model/model.ts'
import { graphqlTypeName, graphqlWrapperNames } from '../../model/names.ts'
import { findTooManyJoins } from '../../query/join-limit.ts'
import type { LocaleChoice, Query, VersionChoice } from '../../query/query.ts'
import type { RootField } from '../sdl/root-fields.ts'
import { fieldsBelow, fieldsNamed } from './collect-fields.ts'
import type { Arguments, OperationContext } from './operation-context.ts'
import { parseIdArgument, parsePage, parseRows } from './parse-arguments.ts'
import { parseDocumentSelection } from './parse-selection.ts'

/** A root field with its arguments and all nodes of one response key. */
export interface RootSelection {
  readonly root: RootField
  readonly nodes: readonly FieldNode[]
  readonly args: Arguments
}

/** Parses a root field of a query (reference/graphql.md#2-generated-types) to the same AST as REST. Throws a RequestFault. */
export function parseRead(selected: RootSelection, context: OperationContext): Query {
  const { type, action } = selected.root
  const isList = type.kind === 'collection' && action === 'find'
  return checkJoinLimit(isList ? parseMany(selected, context) : parseOne(selected, context))
}

/** Refuses queries with too many joins, which PostgreSQL plans slowly; the same limit as over REST. */
export function checkJoinLimit(query: Query): Query {
  const tooMany = findTooManyJoins(query)
  if (tooMany) throw new RequestFault(tooMany)
  return query
}

function parseOne({ root: { type }, nodes, args }: RootSelection, context: OperationContext): Query {
  const answer = fieldsBelow(nodes, graphqlWrapperNames(graphqlTypeName(type)).response, context)
  return {
    ...baseQuery(type, args, context.model),
    take: type.kind === 'single' ? SINGLE_DOCUMENT : parseIdArgument(args.id),
    selection: parseDocumentSelection(type, answer, { ...context, status: readStatus(type, args) }),
    filter: null,
    sort: [],
  }
}

function parseMany({ root: { type }, nodes, args }: RootSelection, context: OperationContext): Query {
  const answer = fieldsBelow(nodes, graphqlWrapperNames(graphqlTypeName(type)).collection, context)
  const page = parsePage(args.pagination, context.limits)
  return {
    ...baseQuery(type, args, context.model),
    take: { kind: 'many', page, total: fieldsNamed(answer, 'meta').length > 0 },
    ...parseRows(type, args),
    selection: parseDocumentSelection(type, answer, { ...context, status: readStatus(type, args) }),
  }
}

const SINGLE_DOCUMENT: Query['take'] = { kind: 'one', documentId: null }

const baseQuery = (type: ContentType, args: Arguments, model: Model) =>
  ({
    kind: 'query',
    type,
    status: readStatus(type, args),
    locale: localeOf(type, args.locale, model),
    search: null,
    publication: null,
  }) as const

/** Fields without `publicationState` find a document in any status (reference/graphql.md#6-writing). */
const readStatus = (type: ContentType, args: Arguments): VersionChoice =>
  type.draftAndPublish && (!('publicationState' in args) || args.publicationState === 'PREVIEW')
    ? 'latest'
    : 'published'

function localeOf(type: ContentType, locale: unknown, model: Model): LocaleChoice {
  if (!type.localized || locale === 'all') return { kind: 'all' }
  return { kind: 'these', codes: [typeof locale === 'string' ? locale : model.defaultLocale] }
}
