import { fault, notFound, RequestFault } from '../faults/fault.ts'
import type { ContentType } from '../model/model.ts'
import type { PermittedCommand, StatusChange, StatusCommand } from '../query/command.ts'
import type { Filter } from '../query/query.ts'
import { discardDraft } from './discard-draft.ts'
import type { Answer, Changed } from './documents.ts'
import { findSingle } from './find-single.ts'
import { assertMeets, choiceOf } from './matching.ts'
import { originOf } from './outbox.ts'
import { publish } from './publish.ts'
import { readAnswer } from './read-answer.ts'
import { unpublish } from './unpublish.ts'
import type { StatusTerms, VersionChange } from './version-change.ts'
import { loadDocument } from './write-load.ts'

type Command = PermittedCommand<StatusCommand>

/** null on types without locales. */
type Locale = string | null

const CHANGES = { publish, unpublish, discardDraft } as const satisfies Record<StatusChange, VersionChange>

/** Changes the status of the locales that are meant: of all of them, or where one is refused of none. */
export async function changeStatus(command: Command, answer: Answer, terms: StatusTerms): Promise<Changed> {
  const { type, conditions } = command
  if (!type.draftAndPublish) throw new RequestFault(noDrafts(command))
  const documentId = command.documentId ?? (await findSingle(type, terms))
  const locales = documentId === null ? [] : await localesMeant(command, documentId, terms)
  if (documentId === null || locales.length === 0) throw new RequestFault(notFound())
  const subject = { command, documentId, locales }
  await assertAll(subject, conditions.before, terms)
  const changed: Locale[] = []
  for (const locale of locales)
    if (await CHANGES[command.kind]({ type, documentId, locale }, command, terms)) changed.push(locale)
  await assertAll(subject, conditions.after, terms)
  const changes = changed.map(each => ({ locale: each, action: command.kind }))
  terms.tell({ type, documentId, changes, origin: originOf(command) })
  return { documentId, texts: await answersIn(changed, { answer, documentId }, terms) }
}

/** Every version has a draft. */
async function localesMeant(
  { type, locale }: Command,
  documentId: string,
  terms: StatusTerms,
): Promise<readonly Locale[]> {
  const current = await loadDocument({ type, documentId }, { attributes: [] }, terms)
  const drafts = current.rows(type, documentId).filter(row => row.get('status') === 'draft')
  const locales = drafts.map(row => (type.localized ? String(row.get('locale')) : null))
  return locale === null || !type.localized ? locales : locales.filter(each => each === locale)
}

interface Subject {
  readonly command: Command
  readonly documentId: string
  readonly locales: readonly Locale[]
}

async function assertAll(
  { command: { type, locale }, documentId, locales }: Subject,
  filter: Filter | null,
  terms: StatusTerms,
): Promise<void> {
  if (!filter) return
  const match = { type, documentIds: [documentId], locale: choiceOf(type, locale), filter }
  await assertMeets(match, locales.length, terms)
}

async function answersIn(
  locales: readonly Locale[],
  { answer, documentId }: { readonly answer: Answer; readonly documentId: string },
  terms: StatusTerms,
): Promise<readonly string[]> {
  const texts: string[] = []
  for (const locale of locales) {
    const query = { ...answer.query, locale: choiceOf(answer.query.type, locale) }
    const text = await readAnswer({ ...answer, query }, documentId, terms)
    if (text !== null) texts.push(text)
  }
  return texts
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
