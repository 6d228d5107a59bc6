import type { Action } from '../access/actions.ts'
import { FAULTS } from '../faults/fault.ts'
import type { Attribute, ContentType, Model } from '../model/model.ts'
import { toTitle } from '../model/names.ts'
import type { RestSettings } from '../project/settings/settings.ts'
import {
  arrayOf,
  closed,
  type DocumentFormat,
  documentSchema,
  type Schema,
  type SchemaContext,
  type SchemaTable,
  schemaName,
} from './answer-schemas.ts'
import { deepParameters, populateWords, words, wordsAndPaths } from './parameter-words.ts'
import {
  bodySchema,
  filterSchema,
  formContent,
  queryNames,
  requiredOnCreate,
  searchParameters,
} from './request-schemas.ts'

/** Operations by method, and the parameters that they share. */
export type PathItem = Record<string, Schema | readonly Schema[]>

/** What the operations of one document share. */
export interface DescribeOptions {
  readonly model: Model
  readonly settings: RestSettings
  readonly table: SchemaTable
  readonly format: DocumentFormat
  /** The requests are those of Strapi 4, which has other status codes. */
  readonly strapi4: boolean
  readonly responses: PartTable
  readonly parameters: PartTable
  /** The context of a route; null: the caller may not use it. */
  contextOf(subject: string, action: Action): SchemaContext | null
}

/** A part of `components` whose entries have a name and a content: equal contents share an entry. */
export class PartTable {
  readonly parts: Record<string, Schema> = Object.create(null)
  readonly #names = new Map<string, string>()
  readonly #section: string

  constructor(section: 'parameters' | 'responses') {
    this.#section = section
  }

  ref(wanted: string, part: Schema): Schema {
    const key = `${wanted} ${JSON.stringify(part)}`
    let name = this.#names.get(key) ?? wanted
    for (let number = 2; !this.#names.has(key) && name in this.parts; number++) name = `${wanted}${number}`
    this.#names.set(key, name)
    this.parts[name] = part
    return { $ref: `#/components/${this.#section}/${name}` }
  }
}

/** Errors of these statuses; without a status, of all that an operation does not list itself. */
function errorResponse(status: number | null): Schema {
  const all = Object.values(FAULTS)
  const faults = status === null ? all : all.filter(fault => fault.status === status)
  const statuses = [...new Set(faults.map(each => each.status))]
  const error = closed(
    {
      status: { type: 'integer', enum: statuses },
      name: { type: 'string', enum: [...new Set(faults.map(({ name }) => name))] },
      message: { type: 'string' },
      details: { type: 'object', additionalProperties: true },
    },
    ['status', 'name', 'message', ...(faults.every(({ details }) => details) ? ['details'] : [])],
  )
  const names = [...new Set(faults.map(({ name }) => name.replace(/Error$/, '')))]
  const description = status === null ? 'Any other error' : names.join(', ')
  return jsonResponse(description, closed({ data: { type: 'null' }, error }, ['data', 'error']))
}

export const jsonResponse = (description: string, schema: Schema): Schema => ({
  description,
  content: { 'application/json': { schema } },
})

const READ_FAULTS = [400, 401, 403, 404, null]
const WRITE_FAULTS = [400, 401, 403, 404, 409, 412, null]
/** What is refused before the code of an extension runs. */
const ROUTE_FAULTS = [401, 403]

/** The errors of an operation, from the table of faults. */
export function errorResponses(
  kind: 'get' | 'route' | 'write',
  { responses }: Pick<DescribeOptions, 'responses'>,
): Schema {
  const statuses = { get: READ_FAULTS, route: ROUTE_FAULTS, write: WRITE_FAULTS }[kind]
  const unchanged = kind === 'get' ? { 304: responses.ref('NotModified', NOT_MODIFIED) } : {}
  const errors = statuses.map(status => [
    status ?? 'default',
    responses.ref(`Error${status ?? ''}`, errorResponse(status)),
  ])
  return { ...unchanged, ...Object.fromEntries(errors) }
}

const NOT_MODIFIED: Schema = { description: 'Unchanged since the `ETag` in `If-None-Match`' }

/** The operations of a content-type, by path below the prefix. */
export function contentTypePaths(
  type: ContentType,
  options: DescribeOptions,
): Readonly<Record<string, PathItem>> {
  if (type.kind === 'single') {
    return {
      [`/${type.key}`]: {
        ...readOne(type, 'find', options),
        ...save(type, 'update', options),
        ...remove(type, options),
      },
    }
  }
  const one = {
    ...readOne(type, 'findOne', options),
    ...save(type, 'update', options),
    ...remove(type, options),
  }
  const hasOperation = Object.keys(one).length > 0
  return {
    [`/${type.pluralApiId}`]: { ...readMany(type, options), ...save(type, 'create', options) },
    [`/${type.pluralApiId}/{documentId}`]: hasOperation
      ? { parameters: [options.parameters.ref('DocumentId', DOCUMENT_ID)], ...one }
      : {},
  }
}

export const DOCUMENT_ID: Schema = {
  name: 'documentId',
  in: 'path',
  required: true,
  schema: { type: 'string' },
}

function readMany(type: ContentType, options: DescribeOptions): PathItem {
  const context = options.contextOf(type.key, 'find')
  const view = context?.grants.readAccess(type, 'find')
  if (!context || !view) return {}
  const document = documentSchema(type, 'find', context) ?? {}
  const meta = options.table.ref('list meta', 'ListMeta', () =>
    closed({ pagination: paginationSchema() }, ['pagination']),
  )
  return {
    get: {
      ...headOf(type, 'find', `List ${type.displayName}`),
      parameters: [...readParameters(type, 'find', context, options), pageParameter(options)],
      responses: {
        200: jsonResponse('A page of documents', closed({ data: arrayOf(document), meta }, ['data', 'meta'])),
        ...errorResponses('get', options),
      },
    },
  }
}

function readOne(type: ContentType, action: 'find' | 'findOne', options: DescribeOptions): PathItem {
  const context = options.contextOf(type.key, action)
  const schema = context && documentSchema(type, action, context)
  if (!context || !schema) return {}
  return {
    get: {
      ...headOf(type, action, `Read one ${type.displayName}`),
      parameters: readParameters(type, action, context, options),
      responses: {
        200: documentResponse(type, schema, options),
        ...errorResponses('get', options),
      },
    },
  }
}

const documentResponse = (type: ContentType, schema: Schema, { responses, table }: DescribeOptions): Schema =>
  responses.ref(
    schemaName(type),
    jsonResponse(
      'A document',
      closed({ data: schema, meta: table.ref('meta', 'Meta', () => closed({})) }, ['data', 'meta']),
    ),
  )

export const headOf = (type: ContentType, action: string, summary: string): Schema => ({
  operationId: `${type.key}.${action}`,
  summary,
  tags: [type.displayName],
})

function save(type: ContentType, action: 'create' | 'update', options: DescribeOptions): PathItem {
  const context = options.contextOf(type.key, action)
  const access = context?.grants.writeAccess(type, action)
  if (!context || !access) return {}
  const isCreate = action === 'create'
  const body = bodySchema(type, access, context, {
    name: `${schemaName(type)}${isCreate ? 'Create' : 'Update'}`,
    required: isCreate ? requiredOnCreate(type) : [],
  })
  const mayPublish = !type.draftAndPublish || context.grants.writeAccess(type, 'publish') !== null
  const schema = closed({ data: body }, ['data'])
  const answer = documentResponse(type, documentSchema(type, action, context) ?? {}, options)
  return {
    [isCreate ? 'post' : 'put']: {
      ...headOf(type, action, `${isCreate ? 'Create' : 'Update'} one ${type.displayName}`),
      parameters: [
        ...answerParameters(type, action, context, options),
        ...(type.draftAndPublish
          ? [statusParameter(mayPublish ? ['published', 'draft'] : ['draft'], options)]
          : []),
        ...localeParameter(type, options),
        ...(isCreate ? [] : [matchHeader(options)]),
        idempotencyHeader(options),
      ],
      requestBody: {
        required: true,
        content: {
          'application/json': { schema },
          ...(options.strapi4 && formContent({ type, access, context, body })),
        },
      },
      responses: {
        [isCreate && !options.strapi4 ? 201 : 200]: answer,
        ...errorResponses('write', options),
      },
    },
  }
}

function remove(type: ContentType, options: DescribeOptions): PathItem {
  const context = options.contextOf(type.key, 'delete')
  if (!context) return {}
  const answer = documentSchema(type, 'delete', context)
  return {
    delete: {
      ...headOf(type, 'delete', `Delete one ${type.displayName}`),
      parameters: [...localeParameter(type, options), matchHeader(options), idempotencyHeader(options)],
      responses: {
        ...(options.strapi4
          ? { 200: documentResponse(type, answer ?? {}, options) }
          : { 204: options.responses.ref('Deleted', { description: 'Deleted, or not there' }) }),
        ...errorResponses('write', options),
      },
    },
  }
}

const header = (name: string, description: string): Schema => ({
  ...{ name, in: 'header', description },
  schema: { type: 'string' },
})

/** A `POST` with this header is refused: what it creates has no tag. */
const matchHeader = ({ parameters }: DescribeOptions): Schema =>
  parameters.ref('IfMatch', header('If-Match', 'Writes only if the document still has this `ETag`'))

const idempotencyHeader = ({ parameters }: DescribeOptions): Schema =>
  parameters.ref(
    'IdempotencyKey',
    header('Idempotency-Key', 'A retry with the same key gets the first answer'),
  )

/** A parameter whose value is an object: `filters[title][$eq]=x`. */
const deepObject = (name: string, schema: Schema, description: string): Schema => ({
  ...{ name, in: 'query', style: 'deepObject', explode: true },
  ...{ description, schema },
})

/** A list in one text: `sort=title:desc,id`. */
const listed = (name: string, items: Schema, description: string): Schema => ({
  ...{ name, in: 'query', style: 'form', explode: false },
  ...{ description, schema: arrayOf(items) },
})

/** `fields` and `populate`, by the attributes that the action answers. */
export function answerParameters(
  type: ContentType,
  action: Action,
  context: SchemaContext,
  { parameters, settings }: DescribeOptions,
): readonly Schema[] {
  const readable: ReadonlySet<Attribute> = context.grants.readAccess(type, action)?.readable ?? new Set()
  const { fields, populates } = queryNames(readable, context)
  const shown = listed('fields', words([...fields, '*']), 'The attributes to answer')
  const text =
    'Related content: names, `a.b` for content inside of `a`, or `populate[a][fields]=…` with options'
  return [
    parameters.ref(`${schemaName(type)}Fields`, shown),
    ...(populates.length === 0
      ? []
      : [
          parameters.ref(
            `${schemaName(type)}Populate`,
            listed('populate', populateWords(populates, settings), text),
          ),
          ...deepParameters(settings).map(each => parameters.ref('PopulateLevel', each)),
        ]),
  ]
}

/** The parameters of reads: filters, sort, what to answer, and which version. */
export function readParameters(
  type: ContentType,
  action: Action,
  context: SchemaContext,
  options: DescribeOptions,
): readonly Schema[] {
  const view = context.grants.readAccess(type, action)
  if (!view) return []
  const { fields, populates } = queryNames(view.readable, context)
  const search = searchParameters(type, view.readable)
  const sorts = fields.flatMap(name => [name, `${name}:asc`, `${name}:desc`])
  if (search.length > 0) sorts.push('relevance')
  const { parameters } = options
  return [
    parameters.ref(
      `${schemaName(type)}Filters`,
      deepObject('filters', filterSchema(type, view.readable, context), 'Which documents'),
    ),
    parameters.ref(
      `${schemaName(type)}Sort`,
      listed(
        'sort',
        wordsAndPaths(sorts, populates),
        'In which order; `author.name` sorts by an attribute of a related document',
      ),
    ),
    ...search.map(each => parameters.ref(`${schemaName(type)}${toTitle(String(each.name))}`, each)),
    ...answerParameters(type, action, context, options),
    ...(type.draftAndPublish
      ? [statusParameter(view.drafts ? ['published', 'draft'] : ['published'], options)]
      : []),
    ...localeParameter(type, options),
  ]
}

/** A caller who may not publish writes drafts only, and has to say so. */
const statusParameter = (statuses: readonly string[], { parameters }: DescribeOptions): Schema =>
  parameters.ref('Status', {
    ...{ name: 'status', in: 'query', schema: words(statuses) },
    ...(!statuses.includes('published') && { required: true }),
  })

export const localeParameter = (
  type: ContentType,
  { model, parameters }: DescribeOptions,
): readonly Schema[] =>
  type.localized
    ? [
        parameters.ref('Locale', {
          ...{ name: 'locale', in: 'query' },
          schema: words([...model.locales.map(({ code }) => code), '*']),
        }),
      ]
    : []

function pageParameter({ settings, parameters }: DescribeOptions): Schema {
  const size = { type: 'integer', minimum: 1, maximum: settings.maxLimit }
  const schema = closed({
    page: { type: 'integer', minimum: 1 },
    pageSize: { ...size, default: Math.min(settings.defaultLimit, settings.maxLimit) },
    start: { type: 'integer', minimum: 0 },
    limit: size,
    after: { type: 'string', description: 'Empty for the first page, then `next` of the page before' },
    withCount: { anyOf: [{ type: 'boolean' }, { const: 'estimate' }], default: settings.withCount },
  })
  const text = '`page` and `pageSize`, `start` and `limit`, or `after` and `pageSize`'
  return parameters.ref('Pagination', deepObject('pagination', schema, text))
}

/** `start` and `limit` of lists without an envelope. */
export const topPageParameters = ({ maxLimit }: RestSettings): readonly Schema[] => [
  { name: 'start', in: 'query', schema: { type: 'integer', minimum: 0 } },
  { name: 'limit', in: 'query', schema: { type: 'integer', minimum: 1, maximum: maxLimit } },
]

function paginationSchema(): Schema {
  const number = { type: 'integer' }
  return closed({
    ...{
      page: number,
      pageSize: number,
      pageCount: number,
      start: number,
      limit: number,
      total: number,
      totalIsExact: { type: 'boolean' },
    },
    next: { type: ['string', 'null'] },
  })
}
