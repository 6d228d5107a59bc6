import type { ExecutionContext } from 'ava'
import { openDatabase } from '../../core/database/open-database.ts'
import { DATABASE_SETTINGS } from '../harness/database-settings.ts'
import type { Folder } from '../harness/folder.ts'
import type { Server } from '../harness/server.ts'
import { type Reported, send, valuesOf, type Writers } from './kill-writers.ts'

export type Row = Readonly<Record<string, unknown>>

export interface Place {
  readonly folder: Folder
  readonly url: string
}

async function list(server: Pick<Server, 'base'>, path: string): Promise<readonly Row[]> {
  const found: Row[] = []
  for (let page = 1, pages = 1; page <= pages; page++) {
    const { body } = await send(server, 'GET', `${path}&pagination[page]=${page}&pagination[pageSize]=100`)
    found.push(...(body.data as Row[]))
    pages = (body.meta as { pagination: { pageCount: number } }).pagination.pageCount
  }
  return found
}

const WHOLE =
  'locale=*&populate[author]=true&populate[readers]=true&populate[words][populate]=of&populate[seal][populate]=of'

/** The values of a version, in the form in which they were written. */
function writtenIn(row: Row): Row {
  const idOf = (one: unknown) => (one as Row | null)?.documentId
  const wordOf = (one: unknown) => {
    const { text, of } = one as Row
    return of === null ? { text } : { text, of: idOf(of) }
  }
  const { title, stage, author, readers, words, seal } = row
  return {
    title,
    stage,
    author: idOf(author),
    readers: (readers as unknown[]).map(idOf),
    words: (words as unknown[]).map(wordOf),
    seal: wordOf(seal),
  }
}

/** The values of documents: each version complete, and published versions equal to the drafts. */
export async function reportedBy(
  t: ExecutionContext,
  server: Pick<Server, 'base'>,
  people: readonly string[],
): Promise<ReadonlyMap<string, Reported>> {
  const found = new Map<string, { words: Record<string, string>; shared: string }>()
  const drafts = await list(server, `/api/articles?status=draft&${WHOLE}`)
  const published = await list(server, `/api/articles?${WHOLE}`)
  const places = (rows: readonly Row[]) => rows.map(({ documentId, locale }) => `${documentId} ${locale}`)
  t.deepEqual(places(published).toSorted(), places(drafts).toSorted())
  for (const row of [...drafts, ...published]) {
    const word = String(row.title)
    const shared = String(row.stage)
    const expected = { ...valuesOf(word, people), stage: shared, seal: valuesOf(shared, people).seal }
    t.deepEqual(writtenIn(row), expected)
    const id = String(row.documentId)
    const reported = found.get(id) ?? { words: {}, shared }
    t.is(reported.shared, shared, `${id} shares one value`)
    t.is(reported.words[String(row.locale)] ?? word, word, `${id} is published as its draft is`)
    reported.words[String(row.locale)] = word
    found.set(id, reported)
  }
  return found
}

export function compare(t: ExecutionContext, found: ReadonlyMap<string, Reported>, writers: Writers): void {
  const { acknowledged, doubtful } = writers
  for (const [id, reported] of acknowledged) {
    const doubt = doubtful.find(({ documentId }) => documentId === id)
    const seen = found.get(id) ?? null
    if (doubt && isSame(seen, doubt.reported)) continue
    t.deepEqual(seen, reported, `${id} is as it was acknowledged`)
  }
  const made = doubtful.filter(({ documentId }) => documentId === null)
  for (const [id, reported] of found)
    if (!acknowledged.has(id))
      t.true(
        made.some(each => isSame(each.reported, reported)),
        `${id} was never sent`,
      )
}

const isSame = (one: Reported | null, other: Reported | null): boolean =>
  JSON.stringify([one?.shared, sorted(one)]) === JSON.stringify([other?.shared, sorted(other)])

const sorted = (reported: Reported | null) => Object.entries(reported?.words ?? {}).toSorted()

const ORPHANS = [
  "SELECT id FROM articles p WHERE status = 'published' AND NOT EXISTS (SELECT FROM articles d WHERE d.status = 'draft' AND d.document_key = p.document_key AND d.locale = p.locale)",
  'SELECT id FROM components_parts_word c WHERE NOT EXISTS (SELECT FROM articles a WHERE a.document_key = c.owner_key AND a.status = c.status AND (c.locale IS NULL OR a.locale = c.locale))',
  'SELECT id FROM components_parts_word c WHERE of_key IS NOT NULL AND NOT EXISTS (SELECT FROM people p WHERE p.id = c.of_key)',
  'SELECT id FROM articles_readers_links l WHERE NOT EXISTS (SELECT FROM articles a WHERE a.id = l.owner_id) OR NOT EXISTS (SELECT FROM people p WHERE p.id = l.target_key)',
]

export async function assertNoOrphans(t: ExecutionContext, { folder, url }: Place): Promise<void> {
  const settings = { ...DATABASE_SETTINGS, url }
  const opened = await openDatabase(settings, { root: folder.path, observe: () => {} })
  if (!opened.ok) return t.fail(JSON.stringify(opened.reasons))
  for (const text of ORPHANS) t.deepEqual((await opened.value.run({ text, values: [] })).rows, [], text)
  await opened.value.close()
}
