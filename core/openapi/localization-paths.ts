import type { ContentType } from '../model/model.ts'
import { closed, documentSchema, type Schema, schemaName } from './answer-schemas.ts'
import {
  type DescribeOptions,
  DOCUMENT_ID,
  errorResponses,
  headOf,
  jsonResponse,
  type PathItem,
} from './operations.ts'
import { words } from './parameter-words.ts'
import { bodyProperties } from './request-schemas.ts'

/** The routes of Strapi 4 that create a locale of a document. Body and answer have no envelope, and no parameter has an effect. */
export function localizationPaths(
  type: ContentType,
  options: DescribeOptions,
): Readonly<Record<string, PathItem>> {
  const operation = options.strapi4 && type.localized ? createLocale(type, options) : null
  if (operation === null) return {}
  if (type.kind === 'single') return { [`/${type.key}/localizations`]: { post: operation } }
  const parameters = [options.parameters.ref('DocumentId', DOCUMENT_ID)]
  return { [`/${type.pluralApiId}/{documentId}/localizations`]: { parameters, post: operation } }
}

function createLocale(type: ContentType, options: DescribeOptions): Schema | null {
  const allowed = options.contextOf(type.key, 'createLocalization')
  const access = allowed?.grants.writeAccess(type, 'createLocalization')
  if (!allowed || !access) return null
  const flat = { ...allowed, format: 'flat', key: `${allowed.key} flat` } as const
  const locales = options.model.locales.map(({ code }) => code)
  const publishedAt = {
    type: ['string', 'null'],
    description: 'A time publishes the locale; without one it is a draft',
  }
  const body = closed(
    {
      ...bodyProperties(type, access, allowed),
      locale: words(locales),
      ...(type.draftAndPublish && { publishedAt }),
    },
    ['locale'],
  )
  return {
    ...headOf(type, 'createLocalization', `Create a locale of one ${type.displayName}`),
    requestBody: { required: true, content: { 'application/json': { schema: body } } },
    responses: {
      200: options.responses.ref(
        `${schemaName(type)}Localization`,
        jsonResponse(
          'The document in the new locale',
          documentSchema(type, 'createLocalization', flat) ?? {},
        ),
      ),
      ...errorResponses('write', options),
    },
  }
}
