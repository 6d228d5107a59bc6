import type { Action } from '../access/actions.ts'
import { amendCommand } from '../access/restrict/modified-by-middleware.ts'
import type { Answer } from '../documents/documents.ts'
import type { CreateCommand, GivenValues, PermittedCommand, UpdateCommand } from '../query/command.ts'
import { parseGivenValues } from '../query/parse-given-values.ts'
import { isRecord } from '../query/parse-place.ts'
import type { LocaleChoice, Query, Status } from '../query/query.ts'
import { parseSharedQuery } from '../rest/parameters/parse-query.ts'
import { parseDeletedLocale, parseWrittenLocale } from '../rest/parameters/parse-version.ts'
import type { Act, Params, Prepare } from './act.ts'
import { allow, see } from './narrow.ts'
import { parseWith } from './parse-with.ts'
import { documentIdOf, toParameters } from './read-params.ts'
import { given, refuse } from './unwrap-result.ts'

export const create: Prepare = (params, act) => {
  const answer = answerTo('create', params, act)
  const fixed = { kind: 'create', type: act.type } as const
  const command = permitWrite(asked => ({ ...fixed, ...asked }), params, act)
  return async () => toDocument(given(await act.terms.documents.create(command, answer)).text)
}

export const update: Prepare = (params, act) => {
  const documentId = documentIdOf(params, act)
  const answer = answerTo('update', params, act)
  const fixed = { kind: 'update', type: act.type, documentId, precondition: null } as const
  const command = permitWrite(asked => ({ ...fixed, ...asked }), params, act)
  return async () => {
    if (documentId?.includes('\0')) return null
    const written = await act.terms.documents.update(command, answer)
    if (!written.ok && written.reasons[0]?.code === 'notFound') return null
    return toDocument(given(written).text)
  }
}

const toDocument = (text: string | null): unknown => (text === null ? null : JSON.parse(text))

interface AskedWrite {
  readonly locale: string | null
  readonly status: Status
  readonly values: GivenValues
}

/** What middlewares changed is the server's own choice; the rest must be for the caller. */
function permitWrite<Kind extends CreateCommand | UpdateCommand>(
  toCommand: (asked: AskedWrite) => Kind,
  params: Params,
  act: Act,
): PermittedCommand<Kind> {
  const own = act.who === null || act.asked !== null
  const command = toCommand(parseWrite(params, act, own))
  if (!act.asked) return allow(command, act)
  const before = toCommand(parseWrite(act.asked, act, false))
  return amendCommand(command, before, allow(before, act))
}

/** `sealed`: also what no request may set. */
function parseWrite(params: Params, { type, terms }: Act, sealed: boolean): AskedWrite {
  const { data } = params
  if (!isRecord(data)) throw refuse('data must be an object of attributes', 'data')
  const locale = given(parseWrittenLocale(type, params.locale, terms.model))
  const status = type.draftAndPublish && params.status !== 'published' ? 'draft' : 'published'
  const values = parseWith(type, () => parseGivenValues(type, data, { sealed }))
  return { locale, status, values }
}

/** How what was written is answered: in the locale that was written. */
export function answerTo(action: Action, params: Params, act: Act): Answer {
  const { type, terms } = act
  const shared = parseWith(type, () => parseSharedQuery(type, toParameters(act, params), terms))
  const written = given(parseDeletedLocale(type, params.locale, terms.model))
  const query: Query = { ...shared, take: { kind: 'one', documentId: null }, locale: chosen(written) }
  return { query: see(query, act, action), shape: 'flat' }
}

const chosen = (locale: string | null): LocaleChoice =>
  locale === null ? { kind: 'all' } : { kind: 'these', codes: [locale] }
