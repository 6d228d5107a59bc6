import { trusted } from '../../access/brand.ts'
import type { ContentType } from '../../model/model.ts'
import type { Query } from '../../query/query.ts'
import { parseId } from '../parse/parse-id.ts'
import type { ResolveTerms } from './resolve-read.ts'

/** The document that an argument `id` names. */
export interface NamedDocument {
  readonly documentId: string
  /** That of the record whose number was given; null: the argument names none. */
  readonly locale: string | null
}

/** Whoever asks: what may be done to it is for others to say. One statement for a number, none for a documentId. null: there is none. */
export async function findDocument(
  type: ContentType,
  given: unknown,
  { documents }: Pick<ResolveTerms, 'documents'>,
): Promise<NamedDocument | null> {
  const take = parseId(given)
  if (take.documentId !== null) return { documentId: take.documentId, locale: null }
  const locale = type.attributes.get('locale')
  const query: Query = {
    kind: 'query',
    type,
    take,
    status: type.draftAndPublish ? 'draft' : 'published',
    locale: { kind: 'all' },
    selection: { fields: locale?.kind === 'scalar' ? [locale] : [], named: true, populate: [] },
    filter: null,
    search: null,
    publication: null,
    sort: [],
  }
  const text = await documents.findOne(trusted(query), 'flat')
  if (text === null) return null
  const found = JSON.parse(text)
  return { documentId: found.documentId, locale: type.localized ? found.locale : null }
}
