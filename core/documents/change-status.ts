import { fault, notFound, RequestFault } from '../faults/fault.ts'
import type { ContentType } from '../model/model.ts'
import type { PermittedCommand, StatusChange, StatusCommand } from '../query/command.ts'
import { discardDraft } from './discard-draft.ts'
import type { Answer } from './documents.ts'
import { originOf } from './outbox.ts'
import { openPrefetch } from './prefetch.ts'
import { publish } from './publish.ts'
import { assertMatches, choiceOf, countMatching } from './read/matching.ts'
import { readAnswer } from './read/read-answer.ts'
import { assertVisible, assertWritable, visibleLocales } from './read/version-visibility.ts'
import { ignoreUnhandled } from './rows/ignore-unhandled.ts'
import { loadDocument } from './rows/write-load.ts'
import type { CurrentRow } from './sql/write-rows.ts'
import { findSingle } from './state/find-single.ts'
import { unpublish } from './unpublish.ts'
import type { LocaleName, StatusTerms, VersionChange } from './version-change.ts'

type Command = PermittedCommand<StatusCommand>

const CHANGES = { publish, unpublish, discardDraft } as const satisfies Record<StatusChange, VersionChange>

export interface StatusChanged {
  readonly documentId: string
  /** Share the round trip of the commit: not to be awaited before. */
  readonly texts: Promise<readonly string[]>
}

/** Changes the status of the locales that are meant: of all of them, or where one is refused of none. */
export async function changeStatus(
  command: Command,
  answer: Answer,
  terms: StatusTerms,
): Promise<StatusChanged> {
  const { type, conditions } = command
  if (!type.draftAndPublish) throw new RequestFault(noDrafts(command))
  const documentId = command.documentId ?? (await findSingle(type, terms))
  if (documentId === null) throw new RequestFault(notFound())
  const status = CHANGES[command.kind]
  const { prefetch, cached } = openPrefetch(terms.transaction)
  const loading = loadDocument(
    { type, documentId },
    { attributes: status.attributes(type), allRows: true },
    terms,
  )
  const match = { type, documentIds: [documentId], locale: choiceOf(type, command.locale) }
  const { before, after } = conditions
  const written = { ...command, documentId }
  // Asked behind the lock, in the same round trip.
  ignoreUnhandled(visibleLocales(written, { ...terms, transaction: prefetch }))
  if (before)
    ignoreUnhandled(countMatching({ ...match, filter: before }, { ...terms, transaction: prefetch }))
  const current = await loading
  const locales = selectedLocales(command, current.rows(type, documentId))
  if (locales.length === 0) throw new RequestFault(notFound())
  const asking = { ...terms, transaction: cached }
  await assertVisible(written, current.rows(type, documentId), asking)
  const wanted = locales.length
  if (before) await assertWritable({ match: { ...match, filter: before }, wanted, conditions }, asking)
  const changed = await status.change({ type, documentId, locales, current }, command, terms)
  if (after) await assertMatches({ ...match, filter: after }, locales.length, terms)
  const changes = changed.map(each => ({ locale: each, action: command.kind }))
  const texts = ignoreUnhandled(answersIn(changed, { answer, documentId }, terms))
  terms.tell({ type, documentId, changes, origin: originOf(command) })
  return { documentId, texts }
}

/** Every version has a draft. */
function selectedLocales({ type, locale }: Command, rows: readonly CurrentRow[]): readonly LocaleName[] {
  const drafts = rows.filter(row => row.get('status') === 'draft')
  const locales = drafts.map(row => (type.localized ? String(row.get('locale')) : null))
  return locale === null || !type.localized ? locales : locales.filter(each => each === locale)
}

async function answersIn(
  locales: readonly LocaleName[],
  { answer, documentId }: { readonly answer: Answer; readonly documentId: string },
  terms: StatusTerms,
): Promise<readonly string[]> {
  const texts = await Promise.all(
    locales.map(locale => {
      const query = { ...answer.query, locale: choiceOf(answer.query.type, locale) }
      return readAnswer({ ...answer, query }, documentId, terms)
    }),
  )
  return texts.filter(text => text !== null)
}

const WORDS = {
  publish: 'published',
  unpublish: 'unpublished',
  discardDraft: 'brought back to their published version',
} as const satisfies Record<StatusChange, string>

const noDrafts = ({ type, kind }: { readonly type: ContentType; readonly kind: StatusChange }) =>
  fault(
    'validation',
    `Documents of ${type.key} cannot be ${WORDS[kind]}: the type has no drafts (draftAndPublish)`,
    { key: type.key },
  )
