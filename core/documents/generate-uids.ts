import type { ContentType, ScalarAttribute } from '../model/model.ts'
import { quoteIdentifier as name } from '../sql/identifier.ts'
import { groupBy } from './group.ts'
import type { WriteTerms } from './write-terms.ts'
import type { Values, WrittenDocument, WrittenValue } from './written.ts'

/**
 * The documents with the uids that were left out of versions, where the attribute says `generate: true`: made from
 * `targetField`, with `-1`, `-2` … behind those that another document of the locale has.
 */
export async function generateUids(
  documents: readonly WrittenDocument[],
  terms: WriteTerms,
): Promise<readonly WrittenDocument[]> {
  const made = new Map<WrittenDocument, WrittenDocument>()
  for (const [type, group] of groupBy(documents, each => each.type)) {
    for (const attribute of type.attributes.values()) {
      if (attribute.kind !== 'scalar' || attribute.type !== 'uid' || !attribute.generate) continue
      await generateFor(type, attribute, group, made, terms)
    }
  }
  return documents.map(document => made.get(document) ?? document)
}

async function generateFor(
  type: ContentType,
  attribute: ScalarAttribute,
  group: readonly WrittenDocument[],
  made: Map<WrittenDocument, WrittenDocument>,
  terms: WriteTerms,
): Promise<void> {
  const lacking = group.filter(({ versions }) => versions.some(({ values }) => lacks(values, attribute)))
  if (lacking.length === 0) return
  const taken = await takenUids(type, attribute, lacking, terms)
  for (const uid of givenUids(group, attribute)) taken.add(uid)
  for (const document of lacking) {
    const current = made.get(document) ?? document
    const versions = current.versions.map(version => {
      if (!lacks(version.values, attribute)) return version
      const value: WrittenValue = {
        kind: 'scalar',
        value: free(slugOf(type, attribute, version.values), version.locale, taken),
      }
      return { ...version, values: new Map([...version.values, [attribute.name, value]]) }
    })
    made.set(document, { ...current, versions })
  }
}

function lacks(values: Values, { name: attribute }: ScalarAttribute): boolean {
  const value = values.get(attribute)
  return value === undefined || (value.kind === 'scalar' && (value.value === null || value.value === ''))
}

/** Room for a number behind it in a column of 255 characters. */
const LONGEST = 240

/** `Crème brûlée!` → `creme-brulee`; the type's key where nothing is left. */
function slugOf(type: ContentType, { targetField }: ScalarAttribute, values: Values): string {
  const value = targetField === undefined ? undefined : values.get(targetField)
  const text = value?.kind === 'scalar' && value.value !== null ? String(value.value) : ''
  const plain = text
    .normalize('NFKD')
    .replace(/\p{Mark}/gu, '')
    .toLowerCase()
  const slug = plain
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, LONGEST)
    .replace(/^-|-$/g, '')
  return slug === '' ? type.key : slug
}

const coordinate = (uid: string, locale: string | null): string => JSON.stringify([uid, locale])

function free(slug: string, locale: string | null, taken: Set<string>): string {
  let uid = slug
  for (let number = 1; taken.has(coordinate(uid, locale)); number++) uid = `${slug}-${number}`
  taken.add(coordinate(uid, locale))
  return uid
}

function* givenUids(documents: readonly WrittenDocument[], attribute: ScalarAttribute): Generator<string> {
  for (const { versions } of documents) {
    for (const { locale, values } of versions) {
      const value = values.get(attribute.name)
      if (value?.kind === 'scalar' && typeof value.value === 'string') yield coordinate(value.value, locale)
    }
  }
}

/** Every uid in the database that begins like one to be made. */
async function takenUids(
  type: ContentType,
  attribute: ScalarAttribute,
  lacking: readonly WrittenDocument[],
  { transaction, storage }: WriteTerms,
): Promise<Set<string>> {
  const table = storage.table(type)
  const column = name(storage.column(type, attribute.name))
  const slugs = lacking.flatMap(({ versions }) =>
    versions.map(({ values }) => slugOf(type, attribute, values)),
  )
  const { rows } = await transaction.run({
    name: `find uids of ${type.key}`,
    text: `SELECT ${column}, ${table.locale === null ? 'NULL' : name(table.locale)} FROM ${name(table.name)} WHERE ${column} LIKE ANY ($1::text[])`,
    values: [[...new Set(slugs)].map(slug => `${slug}%`)],
  })
  return new Set(
    rows.map(([uid, locale]) => coordinate(String(uid), typeof locale === 'string' ? locale : null)),
  )
}
