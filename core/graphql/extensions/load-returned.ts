import { subjectOf } from '../../access/actions.ts'
import type { Caller, Grants } from '../../access/caller.ts'
import { openGrants } from '../../access/permission-scopes.ts'
import { restrict } from '../../access/restrict/restrict.ts'
import { groupBy } from '../../base/plain-data.ts'
import { requireScalar } from '../../identity/users/user-values.ts'
import type { ContentType } from '../../model/model.ts'
import type { LocaleChoice, Populate, Query, Status } from '../../query/query.ts'
import type { Wrappers } from '../formats/format.ts'
import type { ResolveOptions } from '../resolve/resolver-context.ts'
import type { AnsweredRow } from '../resolve/resolvers.ts'

export interface ReturnedOptions extends ResolveOptions {
  readonly wrappers: Wrappers
  /** Grants with all permissions. */
  readonly everything: Grants
}

/** Documents that code returned, and the links, components and zones to read for them. */
export interface ReturnedDocuments {
  readonly type: ContentType
  readonly documents: readonly AnsweredRow[]
  readonly populate: readonly Populate[]
  readonly caller: Caller
}

/**
 * Reads the populated values of each document; null for a deleted one. One statement for each status and locale. The
 * documents themselves are not checked, since code returned them; populated rows are restricted to the caller.
 */
export async function loadReturned(
  input: ReturnedDocuments,
  options: ReturnedOptions,
): Promise<readonly (AnsweredRow | null)[]> {
  const versions = groupBy(input.documents, document => versionOf(document, input.type))
  const found = new Map<AnsweredRow, AnsweredRow | null>()
  const reading = [...versions.values()].map(async documents => {
    const rows = await readVersion({ ...input, documents }, options)
    for (const document of documents) found.set(document, rows.get(document.documentId) ?? null)
  })
  await Promise.all(reading)
  return input.documents.map(document => found.get(document) ?? null)
}

/** A document without `publishedAt` is a draft. */
const statusOf = ({ publishedAt }: AnsweredRow, { draftAndPublish }: ContentType): Status =>
  draftAndPublish && publishedAt === null ? 'draft' : 'published'

const versionOf = (document: AnsweredRow, type: ContentType): string =>
  `${statusOf(document, type)} ${type.localized ? String(document.locale) : ''}`

async function readVersion(
  { type, documents, populate, caller }: ReturnedDocuments,
  { everything, ...options }: ReturnedOptions,
): Promise<ReadonlyMap<unknown, AnsweredRow>> {
  const ids = [...new Set(documents.map(({ documentId }) => String(documentId)))]
  const [first = {}] = documents
  const query: Query = {
    kind: 'query',
    type,
    take: { kind: 'many', page: { start: 0, limit: ids.length }, total: false },
    status: statusOf(first, type),
    locale: localeOf(first, type, options),
    selection: { fields: [], named: true, populate },
    filter: {
      kind: 'comparison',
      attribute: requireScalar(type, 'documentId'),
      operator: '$in',
      values: ids,
    },
    search: null,
    publication: null,
    sort: [],
  }
  const scope = { subject: subjectOf(type), action: 'findOne' } as const
  const grants = openGrants(caller.grants, { scope, everything, keepsOwn: false, drafts: 'all' })
  const restricted = restrict(query, { ...caller, grants }, 'findOne')
  const { text } = await options.documents.findMany(restricted, 'flat')
  const rows: readonly AnsweredRow[] = JSON.parse(text)
  return new Map(rows.map(row => [row.documentId, row]))
}

function localeOf(
  { locale }: AnsweredRow,
  { localized }: ContentType,
  { model }: ResolveOptions,
): LocaleChoice {
  if (!localized) return { kind: 'all' }
  return { kind: 'these', codes: [typeof locale === 'string' ? locale : model.defaultLocale] }
}

/** Loads keys of one tick together, as DataLoader does. */
export interface BatchLoader<Key, Value> {
  load(key: Key): Promise<Value>
}

interface PendingKey<Key, Value> {
  readonly key: Key
  readonly done: (value: Value) => void
  readonly failed: (error: unknown) => void
}

/** `work` returns one value per key, in their order. */
export function openBatchLoader<Key, Value>(
  work: (keys: readonly Key[]) => Promise<readonly Value[]>,
): BatchLoader<Key, Value> {
  let waiting: PendingKey<Key, Value>[] = []
  async function run(): Promise<void> {
    const all = waiting
    waiting = []
    try {
      const values = await work(all.map(({ key }) => key))
      for (const [index, { done }] of all.entries()) done(values[index] as Value)
    } catch (error) {
      for (const { failed } of all) failed(error)
    }
  }
  return {
    load: key =>
      new Promise((done, failed) => {
        // Waits until all promises of this tick are settled, so that their keys are included.
        if (waiting.length === 0) Promise.resolve().then(() => process.nextTick(() => void run()))
        waiting.push({ key, done, failed })
      }),
  }
}
