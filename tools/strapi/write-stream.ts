import { isDeepStrictEqual } from 'node:util'
import { isShared } from '../../core/documents/rows/planning.ts'
import type { ContentType, Model } from '../../core/model/model.ts'
import type { Project } from '../../core/project/project.ts'
import type { Status } from '../../core/query/query.ts'
import { describe } from '../transfer/describe.ts'
import { openOutputFile } from '../transfer/partial-path.ts'
import type { StreamedDocument, StreamedValues, StreamedVersion } from '../transfer/stream.ts'
import { overFiles } from '../transfer/stream-fault.ts'
import { type Correspondence, correspond, type TypePair } from './field-mapping.ts'
import type { Names } from './names.ts'
import { withPresentFiles, withPresentFormats } from './read/present-files.ts'
import type { HolderReadContext, ValuesById } from './read/read-options.ts'
import { readValues } from './read/read-values.ts'
import { numberAt, type SourceRow, type StrapiDatabase } from './read/source.ts'
import type { StrapiProject } from './read/strapi-project.ts'
import { type IndexedType, indexRows, type RowLocation } from './row-index.ts'
import { namesOf } from './strapi-names.ts'
import { countLosses } from './warnings.ts'

export interface StrapiStreamOptions {
  readonly strapi: StrapiProject
  readonly names: Names
  /** The converted project. */
  readonly project: Project
  readonly model: Model
  readonly source: StrapiDatabase
}

/** The number of written documents and the losses. */
export interface StreamReport {
  /** By content-type key. */
  readonly documents: ReadonlyMap<string, number>
  readonly losses: readonly string[]
}

/**
 * Writes the documents of a Strapi database to a file that `plinth import` reads. Hashes of passwords are among them: it is
 * created again, for its owner alone, and appears when it is complete. Rejects with a FileFault where it cannot be.
 */
export async function writeStream(
  path: string,
  { strapi, names, project, model, source }: StrapiStreamOptions,
): Promise<StreamReport> {
  const { lose, texts } = countLosses()
  const strapiNames = namesOf(strapi.version)
  const correspondence = correspond(strapi, names, model)
  const locales = new Set(model.locales.map(({ code }) => code))
  const { uploads } = strapi
  const indexed = await indexRows(correspondence, {
    source,
    names: strapiNames,
    defaultLocale: model.defaultLocale,
    locales,
    lose,
  })
  const table = strapiNames.table('files')
  const index = await withPresentFiles(indexed, { source, table, uploads, lose })
  const documents = new Map<string, number>()
  const types = correspondence.types.map(({ ours }) => ours)
  async function* lines(): AsyncGenerator<string> {
    yield `${JSON.stringify(describe({ project, model, types, passwords: true }))}\n`
    for await (const document of streamDocuments({
      source,
      names: strapiNames,
      correspondence,
      index,
      lose,
    })) {
      const { key = '' } = model.contentTypes.get(document.type) ?? {}
      documents.set(key, (documents.get(key) ?? 0) + 1)
      yield `${JSON.stringify(withPresentFormats(document, uploads))}\n`
    }
  }
  // A file that is there is complete: one that an ended process left would import a part of the documents.
  await overFiles(async () => {
    const file = await openOutputFile(path, 0o600)
    try {
      let text = ''
      for await (const line of lines()) {
        text += line
        if (text.length < PIECE) continue
        await file.write(text)
        text = ''
      }
      await file.write(text)
      await file.complete()
    } finally {
      await file.close()
    }
  })
  return {
    documents,
    losses: [...(source.losses ?? []), ...unknownTypes(source, correspondence), ...texts()],
  }
}

/** Characters per write. */
const PIECE = 65_536

/** Content of the admin panel and of the plugins that Plinth replaces, which docs/import-strapi.md names. */
const KNOWN =
  /^(?:admin|strapi)::|^plugin::(?:users-permissions|upload|i18n|content-manager|content-releases|review-workflows)\./

/** Rows of an archive whose content-type the project does not have: of a plugin, or of another version of the project. */
const unknownTypes = ({ counts = new Map() }: StrapiDatabase, { byUid }: Correspondence): readonly string[] =>
  [...counts].flatMap(([uid, count]) =>
    byUid.has(uid) || KNOWN.test(uid)
      ? []
      : [`${uid}: the project has no such content-type (${count === 1 ? '1 row' : `${count} rows`})`],
  )

/** Documents per query. */
const BATCH = 500

/** Yields all converted documents of a Strapi database in the format of the import. */
export async function* streamDocuments(options: HolderReadContext): AsyncGenerator<StreamedDocument> {
  for (const type of options.correspondence.types) {
    const index = options.index.types.get(type.uid)
    if (index !== undefined) yield* streamType(type, index, options)
  }
}

async function* streamType(
  type: TypePair,
  index: IndexedType,
  options: HolderReadContext,
): AsyncGenerator<StreamedDocument> {
  const documents = [...index.documents]
  const kept = type.ours.kind === 'single' ? documents.slice(0, 1) : documents
  if (kept.length < documents.length)
    options.lose({
      of: type.uid,
      why: 'a single type has one document: those behind the first did not come over',
    })
  const last = lastIn(index)
  let made = 0
  for (let start = 0; start < kept.length; start += BATCH) {
    const batch = kept.slice(start, start + BATCH)
    const ids = batch.flatMap(([, rows]) => rows)
    const locales = new Map(ids.map(id => [id, index.rows.get(id)?.locale ?? null]))
    const values = await readValues(type, ids, { ...options, root: type.ours, locales })
    const stamps = await readStamps(type, ids, options)
    for (const [documentId, rows] of batch) {
      const found = rows.flatMap(id => toRow(id, { index, values, stamps }))
      // Rows that Strapi does not have get numbers above all of its own.
      const versions = withDrafts(type.ours, found, () => last + ++made)
      yield toDocument(type.ours, documentId, versions)
    }
  }
}

/** A loop, because Math.max with too many arguments throws. */
const lastIn = ({ rows }: IndexedType): number => [...rows.keys()].reduce((last, id) => Math.max(last, id), 0)

async function readStamps(
  { collectionName }: TypePair,
  ids: readonly number[],
  { source, names }: HolderReadContext,
): Promise<ReadonlyMap<number, SourceRow>> {
  const rows = await source.read({
    table: names.table(collectionName),
    columns: ['id', 'created_at', 'updated_at', 'published_at'],
    among: { column: 'id', values: ids },
  })
  return new Map(rows.map(row => [numberAt(row, 'id') ?? 0, row]))
}

interface FoundRow {
  readonly id: number
  readonly place: RowLocation
  readonly values: StreamedValues
  readonly stamps: SourceRow | undefined
}

interface Found {
  readonly index: IndexedType
  readonly values: ValuesById
  readonly stamps: ReadonlyMap<number, SourceRow>
}

function toRow(id: number, { index, values, stamps }: Found): readonly FoundRow[] {
  const place = index.rows.get(id)
  return place === undefined ? [] : [{ id, place, values: values.get(id) ?? {}, stamps: stamps.get(id) }]
}

interface Version extends FoundRow {
  readonly status: Status
}

/** One version per locale and status, from the newest row. A published version also gets a draft. */
function withDrafts(type: ContentType, rows: readonly FoundRow[], newId: () => number): readonly Version[] {
  const versions = new Map<string, Version>()
  for (const row of rows) {
    const status = row.place.status === 'both' ? 'published' : row.place.status
    versions.set(`${row.place.locale} ${status}`, { ...row, status })
  }
  if (!type.draftAndPublish) return [...versions.values()]
  return [...versions.values()].flatMap((version): readonly Version[] => {
    const hasDraft = version.status === 'draft' || versions.has(`${version.place.locale} draft`)
    return hasDraft ? [version] : [{ ...version, id: newId(), status: 'draft' }, version]
  })
}

function toDocument(type: ContentType, documentId: string, versions: readonly Version[]): StreamedDocument {
  const shared = type.localized ? sharedValues(type, versions) : {}
  return {
    type: type.uid,
    documentId,
    versions: versions.map(version => toVersion(type, version)),
    ...(Object.keys(shared).length === 0 ? {} : { shared }),
  }
}

function toVersion(type: ContentType, { id, place, status, values, stamps }: Version): StreamedVersion {
  const publishedAt = status === 'draft' ? null : stamps?.get('published_at')
  return {
    id,
    ...(type.localized && place.locale !== null ? { locale: place.locale } : {}),
    ...(type.draftAndPublish ? { status } : {}),
    ...stamp('createdAt', stamps?.get('created_at')),
    ...stamp('updatedAt', stamps?.get('updated_at')),
    ...stamp('publishedAt', publishedAt),
    values: valuesOf(type, values, false),
  }
}

const stamp = <Name extends string>(
  name: Name,
  moment: string | null | undefined,
): { readonly [Key in Name]?: string } =>
  moment ? ({ [name]: moment } as { readonly [Key in Name]: string }) : {}

/**
 * Strapi stores shared attributes in every locale; the copy of the first locale is used. Strapi 5 does not copy the values of a write
 * that publishes to the drafts of other locales, which keep former values: a draft with the published values goes before them.
 */
function sharedValues(
  type: ContentType,
  versions: readonly Version[],
): NonNullable<StreamedDocument['shared']> {
  const sharedOf = (status: Status) =>
    versions.filter(each => each.status === status).map(({ values }) => valuesOf(type, values, true))
  const [published] = sharedOf('published')
  const drafts = sharedOf('draft')
  const draft = drafts.find(values => isDeepStrictEqual(values, published)) ?? drafts[0]
  return { ...(draft && { draft }), ...(published && { published }) }
}

/** The localized values, or the shared ones. */
const valuesOf = (type: ContentType, values: StreamedValues, shared: boolean): StreamedValues =>
  Object.fromEntries(
    Object.entries(values).filter(([name]) => isShared(type, type.attributes.get(name)) === shared),
  )
