import type { WriteAccess } from '../access/caller.ts'
import type { ContentType } from '../model/model.ts'
import { arrayOf, type Schema, type SchemaContext } from './answer-schemas.ts'
import { bodyAttributes } from './request-schemas.ts'

const BINARY: Schema = { type: 'string', contentMediaType: 'application/octet-stream' }

interface FormOptions {
  readonly type: ContentType
  readonly access: WriteAccess
  readonly context: SchemaContext
  /** What `data` has as JSON. */
  readonly body: Schema
}

/**
 * The body of a save as a form of Strapi 4: the values as JSON text, and files by the names of their attributes. The names of
 * files in components and dynamic zones have the way to them, which is as deep as they are nested.
 */
export function formContent({ type, access, context, body }: FormOptions): Schema {
  const attributes = context.grants.allows('upload', 'upload') ? bodyAttributes(type, access, context) : []
  const files = attributes.flatMap(({ name, ...each }) =>
    each.kind === 'media' ? [[`files.${name}`, each.many ? arrayOf(BINARY) : BINARY] as const] : [],
  )
  const ways = attributes
    .filter(({ kind }) => kind === 'component' || kind === 'zone')
    .map(({ name }) => name)
  return {
    'multipart/form-data': {
      schema: {
        type: 'object',
        required: ['data'],
        properties: {
          data: { type: 'string', contentMediaType: 'application/json', contentSchema: body },
          ...Object.fromEntries(files),
        },
        ...(ways.length > 0 && { patternProperties: { [`^files\\.(${ways.join('|')})\\.`]: BINARY } }),
        additionalProperties: false,
      },
    },
  }
}
