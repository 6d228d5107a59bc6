import { isSearchable } from '../rest/search-all.ts'
import { type BuiltInOptions, TEXT } from './account-paths.ts'
import { arrayOf, closed, type Schema } from './answer-schemas.ts'
import { errorResponses, jsonResponse, type PathItem } from './operations.ts'

/** `GET /search` (docs/search.md), for callers who may search a content-type. */
export function searchPath(options: BuiltInOptions): Readonly<Record<string, PathItem>> {
  const types = [...options.model.contentTypes.values()].filter(
    type => type.search !== null && isSearchable(type, options.caller),
  )
  if (types.length === 0) return {}
  const match = closed(
    {
      contentType: { enum: types.map(({ key }) => key) },
      documentId: TEXT,
      locale: { type: ['string', 'null'] },
      rank: { type: 'number' },
      fields: { type: 'object', additionalProperties: { type: ['string', 'null'] } },
    },
    ['contentType', 'documentId', 'locale', 'rank', 'fields'],
  )
  const query = (name: string, schema: Schema, description: string): Schema => ({
    ...{ name, in: 'query', schema, description },
    ...(name === 'q' && { required: true }),
  })
  const get = {
    ...{ operationId: 'search.find', summary: 'Search all content-types', tags: ['Search'] },
    parameters: [
      query('q', TEXT, 'Words, `"phrases"` and `-words` to exclude'),
      query('types', TEXT, 'Singular names of content-types, separated by commas'),
      query('locale', TEXT, 'A locale, or `*`'),
      query('limit', { type: 'integer', minimum: 1 }, 'How many of the best matches are returned'),
    ],
    responses: {
      200: jsonResponse(
        'The best matches',
        closed({ data: arrayOf(match), meta: closed({}) }, ['data', 'meta']),
      ),
      ...errorResponses('get', options),
    },
  }
  return { '/search': { get } }
}
