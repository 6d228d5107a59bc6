import { callApi } from '../api/client.ts'
import { versionParams } from '../api/data-provider.ts'
import { asList, isJsonObject, type JsonRecord, type JsonValue } from '../api/json.ts'
import { type ApiSchema, findType, type TypeInfo } from '../api/schema.ts'
import { linkedIds, mapValues, withoutIds } from '../fields/document-body.ts'

interface LocaleCopy {
  /** The localized attributes, without ids of components. */
  readonly values: JsonRecord
  /** Number of links to documents that do not exist in the target locale; the server would refuse the write. */
  readonly skippedLinks: number
}

/** The values of another locale that can be written in `locale`. uids are not copied: they are unique. */
export async function copyLocale(
  schema: ApiSchema,
  { type, locale }: { readonly type: TypeInfo; readonly locale: string | null },
  values: JsonRecord,
): Promise<LocaleCopy> {
  const copied = type.attributes.filter(
    attribute =>
      attribute.localized &&
      attribute.writable &&
      attribute.type !== 'uid' &&
      values[attribute.name] !== undefined,
  )
  const links = new Map<TypeInfo, Set<string>>()
  mapValues(schema, copied, values, (attribute, value) => {
    const target = attribute.type === 'relation' ? findType(schema, attribute.target) : undefined
    if (target?.localized) links.set(target, new Set([...(links.get(target) ?? []), ...linkedIds(value)]))
    return value
  })
  const present = await findExisting(schema, locale, links)
  let skippedLinks = 0
  const isPresent = (target: TypeInfo | undefined, link: JsonValue): boolean => {
    const is = !target?.localized || linkedIds(link).every(id => present.get(target)?.has(id))
    if (!is) skippedLinks++
    return is
  }
  const copyable = mapValues(schema, copied, values, (attribute, value) => {
    if (attribute.type !== 'relation') return value
    const target = findType(schema, attribute.target)
    if (Array.isArray(value)) return asList(value).filter(link => isPresent(target, link))
    return isPresent(target, value) ? value : null
  })
  const copy = withoutIds(schema, copied, copyable)
  return { values: Object.fromEntries(copied.map(({ name }) => [name, copy[name] ?? null])), skippedLinks }
}

/** Documents of one request: the URL of a batch stays below the server's limit. */
const BATCH_SIZE = 90

/** The ids of the linked documents that exist in the locale, by type. */
async function findExisting(
  schema: ApiSchema,
  locale: string | null,
  links: ReadonlyMap<TypeInfo, ReadonlySet<string>>,
): Promise<ReadonlyMap<TypeInfo, ReadonlySet<string>>> {
  const existing = new Map<TypeInfo, Set<string>>()
  for (const [target, ids] of links) {
    const present = new Set<string>()
    existing.set(target, present)
    for (let start = 0; start < ids.size; start += BATCH_SIZE) {
      const batch = [...ids].slice(start, start + BATCH_SIZE)
      const query = {
        ...versionParams(schema, target, locale === null ? {} : { locale }),
        fields: ['documentId'],
        filters: { documentId: { $in: batch } },
        pagination: { start: 0, limit: batch.length, withCount: false },
      }
      const { body } = await callApi('GET', target.path, { query })
      const data = asList(isJsonObject(body) ? (body.data ?? null) : null)
      for (const { documentId } of data.filter(isJsonObject)) present.add(String(documentId))
    }
  }
  return existing
}
