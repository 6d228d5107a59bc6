import type { FieldNode } from 'graphql'
import { RequestFault } from '../../faults/fault.ts'
import type { ContentType } from '../../model/model.ts'
import { graphqlTypeName } from '../../model/names.ts'
import { findTooManyJoins } from '../../query/join-limit.ts'
import { isRelevance, parseTextSearch } from '../../query/parse-text-search.ts'
import {
  type Filter,
  type LocaleChoice,
  PUBLICATION_FILTERS,
  type PublicationFilter,
  type Query,
  type Status,
} from '../../query/query.ts'
import type { FormatName } from '../formats/format.ts'
import type { RootField } from '../sdl/root-fields.ts'
import { fieldsBelow, fieldsNamed } from './collect-fields.ts'
import type { Arguments, OperationContext } from './operation-context.ts'
import { parseIdArgument, parsePage, parseRows, storableId } from './parse-arguments.ts'
import { type DocumentField, parseDocumentSelection } from './parse-selection.ts'

/** A root field with its arguments and all nodes of one response key. */
export interface RootSelection {
  readonly root: RootField
  readonly nodes: readonly FieldNode[]
  readonly args: Arguments
}

/** Parses a root field of a query (reference/graphql.md#2-generated-types) to the same AST as REST. Throws a RequestFault. */
export function parseRead(selected: RootSelection, context: OperationContext): Query {
  return checkJoinLimit(
    selected.root.use === 'one' ? parseOne(selected, context) : parseMany(selected, context),
  )
}

/** Refuses queries with too many joins, which PostgreSQL plans slowly; the same limit as over REST. */
export function checkJoinLimit(query: Query): Query {
  const tooMany = findTooManyJoins(query)
  if (tooMany) throw new RequestFault(tooMany)
  return query
}

function parseOne({ root, nodes, args }: RootSelection, context: OperationContext): Query {
  const { type, use } = root
  const options = READ_TERMS[context.format.name](type, args)
  return {
    ...baseQuery(root, options, args, context),
    take: type.kind === 'single' ? SINGLE_DOCUMENT : options.takeOne(),
    selection: parseDocumentSelection(type, { nodes, use }, { ...context, status: options.status }),
    filter: options.filter,
    sort: [],
  }
}

function parseMany({ root, nodes, args }: RootSelection, context: OperationContext): Query {
  const { type, use } = root
  const page = parsePage(args.pagination, context.limits)
  const textSearch = parseTextSearch(type, { search: args.search, sort: args.sort })
  const rows = parseRows(
    type,
    textSearch && isRelevance(args.sort) ? { ...args, sort: [] } : args,
    context.format,
  )
  const options = READ_TERMS[context.format.name](type, args)
  return {
    ...baseQuery(root, options, args, context),
    take: { kind: 'many', page, total: asksForTotal(type, { nodes, use }, context) },
    ...rows,
    ...(textSearch && { textSearch }),
    filter: options.filter ?? rows.filter,
    selection: parseDocumentSelection(type, { nodes, use }, { ...context, status: options.status }),
  }
}

function asksForTotal(type: ContentType, { nodes, use }: DocumentField, context: OperationContext): boolean {
  const { around } = context.format.shapeOf(graphqlTypeName(type), use)
  if (!around) return false
  return fieldsNamed(fieldsBelow(nodes, around.type, context), context.format.pageField).length > 0
}

const SINGLE_DOCUMENT: Query['take'] = { kind: 'one', documentId: null }

const baseQuery = (
  root: RootField,
  { status, publication }: ReaderOptions,
  args: Arguments,
  context: OperationContext,
) =>
  ({
    kind: 'query',
    type: root.type,
    status,
    locale: localeOf(root, args.locale, context),
    search: null,
    publication,
  }) as const

/** The versions that a root field reads, and its document. `filter`: replaces the client's; null: no. */
interface ReaderOptions extends Pick<Query, 'status' | 'publication' | 'filter'> {
  takeOne(): Query['take']
}

const READ_TERMS: Readonly<Record<FormatName, (type: ContentType, args: Arguments) => ReaderOptions>> = {
  /** Fields without `publicationState` find a document in any status (reference/graphql.md#6-writing). */
  nested: (type, args) => ({
    status:
      type.draftAndPublish && (!('publicationState' in args) || args.publicationState === 'PREVIEW')
        ? 'latest'
        : 'published',
    publication: null,
    filter: null,
    takeOne: () => parseIdArgument(args.id),
  }),
  /** On types without drafts the status applies to relations. */
  flat: (type, args) => ({
    status: parseStatus(args.status),
    publication: type.draftAndPublish ? parsePublication(args) : null,
    filter: type.draftAndPublish && args.status === 'DRAFT' && choosesPublished(args) ? MATCHES_NONE : null,
    takeOne: () => ({ kind: 'one', documentId: storableId(args.documentId) }),
  }),
}

/** Values of `publicationFilter` that choose published versions, so that no draft matches. */
const choosesPublished = ({ publicationFilter }: Arguments): boolean =>
  publicationFilter === 'PUBLISHED_WITH_DRAFT' || publicationFilter === 'PUBLISHED_WITHOUT_DRAFT'

const MATCHES_NONE: Filter = { kind: 'or', filters: [] }

/** `PublicationStatus`; null is as if it were absent. */
export const parseStatus = (raw: unknown): Status => (raw === 'DRAFT' ? 'draft' : 'published')

/** `publicationFilter`, or the older `hasPublishedVersion` (reference/graphql.md#12-the-flat-dialect). */
function parsePublication({ publicationFilter, hasPublishedVersion }: Arguments): PublicationFilter | null {
  if (typeof publicationFilter === 'string') {
    const word = publicationFilter.toLowerCase().replaceAll('_', '-')
    return PUBLICATION_FILTERS.find(known => known === word) ?? null
  }
  if (typeof hasPublishedVersion !== 'boolean') return null
  return hasPublishedVersion ? 'has-published-version-document' : 'never-published-document'
}

/** In the flat format all locales can be read by lists only, as over REST: one document is not found then. */
function localeOf(
  { type, use }: RootField,
  locale: unknown,
  { model, format }: OperationContext,
): LocaleChoice {
  const isForAll = locale === format.allLocales && (format.name === 'nested' || use !== 'one')
  if (!type.localized || isForAll) return { kind: 'all' }
  return { kind: 'these', codes: [typeof locale === 'string' ? storable(locale) : model.defaultLocale] }
}

/** PostgreSQL cannot store NUL, so no locale contains it: replaced, the code finds nothing. */
const storable = (code: string): string => code.replaceAll('\0', '?')
