import type { ContentType } from '../model/model.ts'
import { arrayOf, closed, documentSchema } from './answer-schemas.ts'
import {
  DOCUMENT_ID,
  errorResponses,
  headOf,
  jsonResponse,
  localeParameter,
  type OperationTerms,
  type PathItem,
} from './operations.ts'

const CHANGES = { unpublish: 'Unpublish', 'discard-draft': 'Discard the draft of' } as const

/** What `PUT` cannot do with the versions of a document: `/actions/…/unpublish` and `/actions/…/discard-draft`. */
export function changePaths(type: ContentType, terms: OperationTerms): Readonly<Record<string, PathItem>> {
  const context = terms.contextOf(type.key, 'publish')
  if (!type.draftAndPublish || !context?.grants.writeAccess(type, 'publish')) return {}
  const isOne = type.kind !== 'single'
  const path = isOne ? `/actions/${type.pluralApiId}/{documentId}` : `/actions/${type.key}`
  const versions = arrayOf(documentSchema(type, 'publish', context) ?? {})
  const data = closed({ documentId: { type: 'string' }, entries: versions }, ['documentId', 'entries'])
  const paths = Object.entries(CHANGES).map(([name, verb]) => {
    const post = {
      ...headOf(type, name, `${verb} one ${type.displayName}`),
      parameters: localeParameter(type, terms),
      responses: {
        200: jsonResponse('The versions that changed', closed({ data, meta: closed({}) }, ['data', 'meta'])),
        ...errorResponses('write', terms),
      },
    }
    const parameters = isOne ? { parameters: [terms.parameters.ref('DocumentId', DOCUMENT_ID)] } : {}
    return [`${path}/${name}`, { ...parameters, post }] as const
  })
  return Object.fromEntries(paths)
}
