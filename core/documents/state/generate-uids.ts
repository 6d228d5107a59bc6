import { INTEGER } from '../../base/integers.ts'
import { groupBy } from '../../base/plain-data.ts'
import { normalizeText } from '../../base/text.ts'
import { ignoreUnhandled } from '../../base/with-timeout.ts'
import { STATUS_VALUES } from '../../model/columns.ts'
import { slugify } from '../../model/enum-names.ts'
import type { ContentType, ScalarAttribute } from '../../model/model.ts'
import type { Storage } from '../../model/storage.ts'
import { quoteIdentifier as ident, quoteText } from '../../sql/identifier.ts'
import type { Statement } from '../../sql/statement.ts'
import type { DesiredDocument, DesiredValue, Values } from '../desired-state.ts'
import type { LockingOptions } from '../rows/write-options.ts'

/**
 * The documents with the uids that were left out of versions, where the attribute says `generate: true`: made from
 * `targetField`, with `-1`, `-2` … behind those that another document of the locale has.
 */
export async function generateUids(
  documents: readonly DesiredDocument[],
  options: LockingOptions,
): Promise<readonly DesiredDocument[]> {
  const made = new Map<DesiredDocument, DesiredDocument>()
  for (const [type, group] of groupBy(documents, each => each.type)) {
    for (const attribute of type.attributes.values()) {
      if (attribute.kind !== 'scalar' || attribute.type !== 'uid' || !attribute.generate) continue
      await generateFor(type, attribute, group, made, options)
    }
  }
  return documents.map(document => made.get(document) ?? document)
}

async function generateFor(
  type: ContentType,
  attribute: ScalarAttribute,
  group: readonly DesiredDocument[],
  made: Map<DesiredDocument, DesiredDocument>,
  options: LockingOptions,
): Promise<void> {
  const lacking = group.filter(({ versions }) => versions.some(({ values }) => lacks(values, attribute)))
  if (lacking.length === 0) return
  const input = [...givenUids(group, attribute)]
  const take = await freeUids(type, attribute, wantedUids(lacking, attribute, input), options)
  const taken = new Set(input.map(each => coordinate(each)))
  for (const document of lacking) {
    const current = made.get(document) ?? document
    const versions = current.versions.map(version => {
      if (!lacks(version.values, attribute)) return version
      const wanted = { uid: slugOf(type, attribute, version.values), locale: version.locale }
      const value: DesiredValue = { kind: 'scalar', value: take(wanted, taken) }
      return { ...version, values: new Map([...version.values, [attribute.name, value]]) }
    })
    made.set(document, { ...current, versions })
  }
}

function lacks(values: Values, { name: attribute }: ScalarAttribute): boolean {
  const value = values.get(attribute)
  return value === undefined || (value.kind === 'scalar' && (value.value === null || value.value === ''))
}

/** Maximum length of a slug: a number must still fit into the column of 255 characters. */
const LONGEST = 240

/** Characters of a text that a slug is made of: more would only take time. */
const LONGEST_TEXT = 1_000

/** As the uids of Strapi: `Crème brûlée!` → `creme-brulee`; the type's key where nothing is left. */
function slugOf(type: ContentType, { targetField }: ScalarAttribute, values: Values): string {
  const value = targetField === undefined ? undefined : values.get(targetField)
  const text = value?.kind === 'scalar' && value.value !== null ? String(value.value) : ''
  const slug = slugify()(normalizeText(text.slice(0, LONGEST_TEXT), 'NFKC'))
    .slice(0, LONGEST)
    .replace(/-$/, '')
  return slug === '' ? type.key : slug
}

interface Uid {
  readonly uid: string
  readonly locale: string | null
}

const coordinate = ({ uid, locale }: Uid): string => JSON.stringify([uid, locale])

function* givenUids(documents: readonly DesiredDocument[], attribute: ScalarAttribute): Generator<Uid> {
  for (const { versions } of documents) {
    for (const { locale, values } of versions) {
      const value = values.get(attribute.name)
      if (value?.kind === 'scalar' && typeof value.value === 'string') yield { uid: value.value, locale }
    }
  }
}

/** A slug, and how many free uids are made of it at most. */
interface Desired extends Uid {
  readonly count: number
  /** The document that alone wants it, whose own rows are no obstacle; null if several do. */
  readonly owner: string | null
}

/** Uids that the same write gives or makes of other slugs may be among the free ones: as many more are wanted. */
function wantedUids(
  lacking: readonly DesiredDocument[],
  attribute: ScalarAttribute,
  input: readonly Uid[],
): readonly Desired[] {
  const slugs = lacking.flatMap(({ type, documentId, versions }) =>
    versions
      .filter(({ values }) => lacks(values, attribute))
      .map(({ locale, values }) => ({ uid: slugOf(type, attribute, values), locale, documentId })),
  )
  const bySlug = groupBy(slugs, coordinate)
  const distinct = [...bySlug.values()].flatMap(same => same.slice(0, 1))
  const similar = countSimilar([...input, ...distinct])
  return distinct.map(slug => {
    const key = coordinate(slug)
    const wanting = bySlug.get(key)?.length ?? 0
    return {
      uid: slug.uid,
      locale: slug.locale,
      count: wanting + (similar.get(key) ?? 0),
      owner: wanting === 1 ? slug.documentId : null,
    }
  })
}

/** By a slug: how many of the uids are the slug alone or the slug with a number. */
function countSimilar(input: readonly Uid[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const { uid, locale } of input) {
    for (const slug of new Set([uid, uid.replace(/-\d{1,10}$/, '')])) {
      const key = coordinate({ uid: slug, locale })
      counts.set(key, (counts.get(key) ?? 0) + 1)
    }
  }
  return counts
}

/** Takes the first uid of a slug that neither the database nor the same write has, and adds it to those taken. */
type TakeUid = (slug: Uid, taken: Set<string>) => string

async function freeUids(
  type: ContentType,
  attribute: ScalarAttribute,
  wanted: readonly Desired[],
  { transaction, storage }: LockingOptions,
): Promise<TakeUid> {
  // In the round trip of the lookup, which sees what others committed while the locks were awaited. In one order, which prevents deadlocks.
  for (const part of [...new Set(wanted.map(lockedPart))].toSorted((a, b) => a - b))
    ignoreUnhandled(transaction.lock(`uids ${type.uid} ${attribute.name} ${part}`))
  const { rows } = await transaction.run(printFree(type, attribute, wanted, storage))
  const byPlace = groupBy(rows, ([place]) => Number(place) - 1)
  // A taken number stays taken during this write, so the search never restarts.
  const numbers = new Map(
    wanted.map((slug, place) => [
      coordinate(slug),
      (byPlace.get(place) ?? []).map(([, number]) => Number(number)).values(),
    ]),
  )
  return (slug, taken) => {
    for (const number of numbers.get(coordinate(slug)) ?? []) {
      const uid = number === 0 ? slug.uid : `${slug.uid}-${number}`
      const found = coordinate({ ...slug, uid })
      if (taken.has(found)) continue
      taken.add(found)
      return uid
    }
    throw new TypeError(`no free uid for ${slug.uid}`)
  }
}

/** A write of many documents takes so many locks at most. */
const LOCKED_PARTS = 32

/**
 * The part of all uids that is locked until the write ends: of two concurrent writes that look for the same uid, the second has to
 * see that of the first, also as a draft, which no index compares. A slug and all its numbered forms are in one part.
 */
function lockedPart({ uid }: Uid): number {
  let end = uid.length
  while (end > 0 && '-0123456789'.includes(uid.charAt(end - 1))) end--
  let part = 0
  for (let at = 0; at < end; at++) part = (part * 31 + uid.charCodeAt(at)) % LOCKED_PARTS
  return part
}

/**
 * The first free numbers of each slug, 0 for the slug alone. Each candidate is a separate lookup in the index of
 * each status. A series in the select list is evaluated lazily, so no more candidates are looked up than needed.
 */
function printFree(
  type: ContentType,
  attribute: ScalarAttribute,
  wanted: readonly Desired[],
  storage: Storage,
): Statement {
  const table = storage.table(type)
  const candidate = `w$.slug || CASE WHEN s$.number = 0 THEN '' ELSE '-' || s$.number END`
  const here = [
    `t$.${ident(storage.column(type, attribute.name))} = ${candidate}`,
    `t$.${ident(table.documentId)} IS DISTINCT FROM w$.owner`,
    ...(table.locale === null ? [] : [`t$.${ident(table.locale)} = w$.locale`]),
  ]
  const { status } = table
  const places =
    status === null
      ? [here]
      : STATUS_VALUES.map(each => [...here, `t$.${ident(status)} = ${quoteText(each)}`])
  const isFree = places.map(
    conditions =>
      `(SELECT 1 FROM ${ident(table.name)} AS t$ WHERE ${conditions.join(' AND ')} LIMIT 1) IS NULL`,
  )
  return {
    name: `find uids of ${type.key}`,
    text:
      `SELECT w$.place, f$.number FROM unnest($1::text[], $2::text[], $3::integer[], $4::text[]) WITH ORDINALITY AS w$ (slug, locale, wanted, owner, place), ` +
      `LATERAL (SELECT s$.number FROM (SELECT generate_series(0, ${INTEGER.most}) AS number) AS s$ ` +
      `WHERE ${isFree.join(' AND ')} LIMIT w$.wanted) AS f$ ORDER BY 1, 2`,
    values: [
      wanted.map(({ uid }) => uid),
      wanted.map(({ locale }) => locale),
      wanted.map(({ count }) => count),
      wanted.map(({ owner }) => owner),
    ],
  }
}
