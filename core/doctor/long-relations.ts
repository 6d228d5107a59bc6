import type { ContentType, Model, RelationAttribute } from '../model/model.ts'
import { isRecord } from '../query/parse-place.ts'
import type { Advice } from './advice.ts'
import type { SlowRead } from './slow-reads.ts'

/** Advice on lists of related documents that a slow read populates or counts as a whole. `took`: its duration in words. */
export function longRelations({ work }: SlowRead, took: string, model: Model): readonly Advice[] {
  const { contentType, populate } = work
  const type = [...model.contentTypes.values()].find(({ key }) => key === contentType)
  if (!type || !isRecord(populate)) return []
  return Object.entries(populate).flatMap(([name, asked]) => {
    const attribute = type.attributes.get(name)
    if (attribute?.kind !== 'relation' || !attribute.many || !isRecord(asked) || asked.limit !== undefined)
      return []
    const found = `${took} with all documents of \`${name}\`, which has no limit`
    const remedy = ownList(type, attribute)
    return [{ severity: 'advice', code: 'long-relation', about: type.key, found, remedy }]
  })
}

const ownList = ({ key }: ContentType, { target, counterpart }: RelationAttribute): string =>
  counterpart
    ? `if it is long, ask for it page by page: \`GET /api/${target.pluralApiId}?filters[${counterpart.name}][documentId]=…\`, and for the number of its documents with \`pagination[withCount]=estimate\``
    : `if it is long, declare \`inversedBy\` on it, so that it can be asked for page by page: \`GET /api/${target.pluralApiId}?filters[${key}][documentId]=…\``
