import type { DataProvider, GetListParams, RaRecord } from 'ra-core'
import { callApi } from './client.ts'
import { asList, isJsonObject, type JsonRecord } from './json.ts'
import { linksDrafts, showsDrafts } from './populate.ts'
import { type ApiSchema, type AttributeInfo, findType, labelOf, type TypeInfo } from './schema.ts'

/** The filters of a list in its URL (`filter` of ra-core). */
export interface ListFilter {
  readonly text?: string
  readonly status?: string
  readonly locale?: string
  readonly where?: readonly FilterCondition[]
}

export interface FilterCondition {
  readonly name: string
  readonly operator: string
  readonly value: string
}

export type PublicationState = 'draft' | 'published' | 'modified'

export interface ListRow extends RaRecord {
  readonly id: string
  readonly values: JsonRecord
  readonly state: PublicationState | null
}

/** ra-core's data provider, for lists only. Forms call the API directly, because they need ETags and several versions. */
export function createDataProvider(schema: ApiSchema): DataProvider {
  const refuse = (): Promise<never> => Promise.reject(new Error('Only lists are read by ra-core'))
  return {
    getList: (name: string, params: GetListParams) => listDocuments(schema, name, params),
    getOne: refuse,
    getMany: refuse,
    getManyReference: refuse,
    create: refuse,
    update: refuse,
    updateMany: refuse,
    delete: refuse,
    deleteMany: refuse,
  } as unknown as DataProvider
}

async function listDocuments(schema: ApiSchema, name: string, params: GetListParams) {
  const type = schema.types.find(({ pluralName }) => pluralName === name)
  if (!type) return { data: [], pageInfo: {} }
  const filter = params.filter as ListFilter
  const { page, perPage } = params.pagination ?? { page: 1, perPage: 25 }
  const version = versionParams(schema, type, filter)
  const { body } = await callApi('GET', type.path, {
    query: {
      ...version,
      ...listQuery(schema, type, filter),
      sort: params.sort ? `${params.sort.field}:${params.sort.order.toLowerCase()}` : undefined,
      // Reads one row more than a page to learn whether there is a next page. A total would scan the whole table.
      pagination: { start: (page - 1) * perPage, limit: perPage + 1, withCount: false },
    },
    ...(params.signal && { signal: params.signal }),
  })
  const documents = asList(isJsonObject(body) ? (body.data ?? null) : null).filter(isJsonObject)
  const rows = documents.slice(0, perPage)
  const states = await readStates(type, version, rows)
  return {
    data: rows.map(values => ({
      id: String(values.documentId),
      values,
      state: states?.get(String(values.documentId)) ?? null,
    })),
    pageInfo: { hasNextPage: documents.length > perPage, hasPreviousPage: page > 1 },
  }
}

/**
 * `status` and `locale` of a request about this type. `status=draft` also returns documents that are only published.
 * A type without drafts shows links to drafts, as its forms do.
 */
export function versionParams(schema: ApiSchema, type: TypeInfo, filter: ListFilter): Record<string, string> {
  const drafts = type.draftAndPublish ? showsDrafts(type) : linksDrafts(schema, type)
  const locale = filter.locale ?? schema.defaultLocale
  return {
    ...(drafts && { status: filter.status === 'published' ? 'published' : 'draft' }),
    ...(type.localized && locale !== null && { locale }),
  }
}

function listQuery(schema: ApiSchema, type: TypeInfo, filter: ListFilter): Record<string, unknown> {
  const columns = listColumns(type)
  const links = columns.filter(({ type: kind }) => kind === 'relation' || kind === 'media')
  const conditions = (filter.where ?? []).filter(({ name }) =>
    type.attributes.some(attribute => attribute.name === name && attribute.readable),
  )
  return {
    fields: ['documentId', ...columns.filter(column => !links.includes(column)).map(({ name }) => name)],
    populate: Object.fromEntries(links.map(link => [link.name, populateLink(schema, link)])),
    _q: filter.text || undefined,
    publicationFilter: PUBLICATION[filter.status ?? ''],
    filters: {
      $and: conditions.filter(isComplete).map(condition => toFilter(schema, type, condition)),
    },
  }
}

const isNullCheck = (operator: string): boolean => operator === '$null' || operator === '$notNull'
const LIST_OPERATORS: ReadonlySet<string> = new Set(['$in', '$notIn', '$between'])

/** The URL separates the values of a list operator by `;`. */
const valuesOf = (value: string): readonly string[] =>
  value
    .split(';')
    .map(each => each.trim())
    .filter(each => each !== '')

function isComplete({ operator, value }: FilterCondition): boolean {
  if (isNullCheck(operator)) return true
  return operator === '$between' ? valuesOf(value).length === 2 : valuesOf(value).length > 0
}

/** Linked documents are compared by their label attribute. */
function toFilter(schema: ApiSchema, type: TypeInfo, { name, operator, value }: FilterCondition) {
  const target = findType(schema, type.attributes.find(attribute => attribute.name === name)?.target ?? null)
  const label = target && !isNullCheck(operator) ? labelOf(target) : null
  const compared = LIST_OPERATORS.has(operator) ? valuesOf(value) : value
  const test = { [operator]: isNullCheck(operator) ? true : compared }
  return { [name]: label === null ? test : { [label]: test } }
}

const PUBLICATION: Readonly<Record<string, string>> = { draft: 'never-published', modified: 'modified' }

function populateLink(schema: ApiSchema, link: AttributeInfo): unknown {
  if (link.type === 'media') return { fields: ['name', 'url', 'mime', 'alternativeText'] }
  const target = findType(schema, link.target)
  const label = target ? labelOf(target) : null
  return target ? { fields: [label ?? 'documentId'] } : undefined
}

/** The publication state of each row by documentId, in two requests; null: the type has no drafts. */
async function readStates(
  type: TypeInfo,
  version: Readonly<Record<string, string>>,
  rows: readonly JsonRecord[],
): Promise<ReadonlyMap<string, PublicationState> | null> {
  if (!type.draftAndPublish || rows.length === 0) return null
  const ids = rows.map(({ documentId }) => String(documentId))
  if (version.status !== 'draft') return new Map(ids.map(id => [id, 'published'] as const))
  const idsOf = async (publicationFilter: string): Promise<readonly string[]> => {
    const { body } = await callApi('GET', type.path, {
      query: {
        ...version,
        publicationFilter,
        fields: ['documentId'],
        filters: { documentId: { $in: ids } },
        pagination: { start: 0, limit: ids.length, withCount: false },
      },
    })
    const data = asList(isJsonObject(body) ? (body.data ?? null) : null)
    return data.filter(isJsonObject).map(({ documentId }) => String(documentId))
  }
  const [drafts, modified] = await Promise.all([idsOf('never-published'), idsOf('modified')])
  const stateOf = (id: string): PublicationState => {
    if (drafts.includes(id)) return 'draft'
    return modified.includes(id) ? 'modified' : 'published'
  }
  return new Map(ids.map(id => [id, stateOf(id)]))
}

const COLUMN_TYPES: ReadonlySet<string> = new Set([
  'string',
  'text',
  'uid',
  'email',
  'enumeration',
  'integer',
  'biginteger',
  'decimal',
  'float',
  'boolean',
  'date',
  'time',
  'datetime',
])

/** The readable columns of the project file, by default the label, three attributes and `updatedAt`. */
export function listColumns(type: TypeInfo): readonly AttributeInfo[] {
  const readable = type.attributes.filter(attribute => attribute.readable)
  const named = type.layout.columns.flatMap(name => readable.filter(attribute => attribute.name === name))
  if (named.length > 0) return named
  const label = labelOf(type)
  const simple = readable.filter(
    ({ type: kind, name }) => COLUMN_TYPES.has(kind) && !SYSTEM_ATTRIBUTES.has(name),
  )
  const first = simple.filter(({ name }) => name === label)
  const others = simple.filter(({ name, type: kind }) => name !== label && kind !== 'text').slice(0, 3)
  return [...first, ...others, ...readable.filter(({ name }) => name === 'updatedAt')]
}

const SYSTEM_ATTRIBUTES: ReadonlySet<string> = new Set([
  'createdAt',
  'updatedAt',
  'publishedAt',
  'documentId',
  'locale',
])
