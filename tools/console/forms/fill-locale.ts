import { callApi } from '../api/client.ts'
import { versionParams } from '../api/data-provider.ts'
import { asList, isJsonObject, type JsonRecord, type JsonValue } from '../api/json.ts'
import { type ApiSchema, findType, type TypeInfo } from '../api/schema.ts'
import { linksOf, mapValues, withoutIds } from '../fields/document-body.ts'

interface Filled {
  /** The attributes that each locale has of its own, without ids of components. */
  readonly values: JsonRecord
  /** Links to documents that do not exist in the locale: the server would refuse all of the write for one of them. */
  readonly leftOut: number
}

/** The values of another locale, as they can be written in this one. uids stay: they are unique. */
export async function fillLocale(
  schema: ApiSchema,
  { type, locale }: { readonly type: TypeInfo; readonly locale: string | null },
  values: JsonRecord,
): Promise<Filled> {
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
    if (target?.localized) links.set(target, new Set([...(links.get(target) ?? []), ...linksOf(value)]))
    return value
  })
  const present = await findIn(schema, locale, links)
  let leftOut = 0
  const isPresent = (target: TypeInfo | undefined, link: JsonValue): boolean => {
    const is = !target?.localized || linksOf(link).every(id => present.get(target)?.has(id))
    if (!is) leftOut++
    return is
  }
  const translated = mapValues(schema, copied, values, (attribute, value) => {
    if (attribute.type !== 'relation') return value
    const target = findType(schema, attribute.target)
    if (Array.isArray(value)) return asList(value).filter(link => isPresent(target, link))
    return isPresent(target, value) ? value : null
  })
  const copy = withoutIds(schema, copied, translated)
  return { values: Object.fromEntries(copied.map(({ name }) => [name, copy[name] ?? null])), leftOut }
}

/** Most addresses of that many documents are shorter than the server's limit. */
const AT_ONCE = 90

/** Which of these documents exist in the locale. */
async function findIn(
  schema: ApiSchema,
  locale: string | null,
  links: ReadonlyMap<TypeInfo, ReadonlySet<string>>,
): Promise<ReadonlyMap<TypeInfo, ReadonlySet<string>>> {
  const found = new Map<TypeInfo, Set<string>>()
  for (const [target, ids] of links) {
    const present = new Set<string>()
    found.set(target, present)
    for (let start = 0; start < ids.size; start += AT_ONCE) {
      const part = [...ids].slice(start, start + AT_ONCE)
      const query = {
        ...versionParams(schema, target, locale === null ? {} : { locale }),
        fields: ['documentId'],
        filters: { documentId: { $in: part } },
        pagination: { start: 0, limit: part.length, withCount: false },
      }
      const { body } = await callApi('GET', target.path, { query })
      const data = asList(isJsonObject(body) ? (body.data ?? null) : null)
      for (const { documentId } of data.filter(isJsonObject)) present.add(String(documentId))
    }
  }
  return found
}
