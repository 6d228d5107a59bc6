// What the formats of the servers have in common: the documents in their order, and how many there are.

export interface Answered {
  readonly documents: readonly Raw[]
  /** undefined where one document was asked for. */
  readonly total: unknown
}

/** JSON of another server, of which only these functions know what it should be. */
export type Raw = Readonly<Record<string, unknown>>

const raw = (value: unknown): Raw => (value ?? {}) as Raw
const list = (value: unknown): readonly Raw[] => (Array.isArray(value) ? value : [value]) as readonly Raw[]

/** Strapi 5's REST, and Plinth's. */
export const fromRest = (body: Raw): Answered => ({
  documents: list(body.data).map(plain),
  total: raw(raw(body.meta).pagination).total,
})

/** Plinth's GraphQL. */
export function fromEntities(body: Raw): Answered {
  const { data, meta } = raw(raw(body.data).articles)
  return { documents: list(data).map(flat).map(plain), total: raw(raw(meta).pagination).total }
}

/** Strapi 5's GraphQL. */
export function fromConnection(body: Raw): Answered {
  const { nodes, pageInfo } = raw(raw(body.data).articles_connection)
  return { documents: list(nodes).map(plain), total: raw(pageInfo).total }
}

/** Payload's REST, and its GraphQL. */
export function fromPayload(body: Raw): Answered {
  const { docs = body, totalDocs } = raw(raw(body.data).Articles ?? body)
  return { documents: list(docs).map(named).map(plain), total: totalDocs }
}

/** An entity's `attributes`, and those of what is nested in them. */
function flat(entity: Raw): Raw {
  const entries = Object.entries(raw(entity.attributes)).map(([name, value]) => [name, unwrapped(value)])
  return { documentId: entity.id, ...Object.fromEntries(entries) }
}

function unwrapped(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !('data' in value)) return value
  return Array.isArray(value.data) ? list(value.data).map(flat) : flat(raw(value.data))
}

/** Payload numbers its documents, and keeps a day as a moment. */
const named = (document: Raw): Raw => ({
  ...document,
  documentId: `article-${document.id}`,
  day: String(document.day).slice(0, 10),
})

const FIELDS = [
  'documentId',
  'title',
  'slug',
  'excerpt',
  'body',
  'rating',
  'price',
  'day',
  'featured',
  'kind',
]

/** What all of them say of an article; where a relation is not populated, nothing of it. */
function plain(document: Raw): Raw {
  const { author, categories } = document
  return {
    ...only(document, FIELDS),
    ...(isPopulated(author) && { author: only(raw(author), ['name', 'bio']) }),
    ...(isPopulated(categories) && {
      categories: list(categories).map(each => only(each, ['name', 'slug'])),
    }),
  }
}

const isPopulated = (relation: unknown): boolean =>
  Array.isArray(relation) ? isPopulated(relation[0]) : typeof relation === 'object' && relation !== null

const only = (document: Raw, names: readonly string[]): Raw =>
  Object.fromEntries(names.map(name => [name, document[name]]))
