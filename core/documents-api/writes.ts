import type { Action } from '../access/actions.ts'
import { permitModified } from '../access/restrict/modified-by-middleware.ts'
import type { Answer } from '../documents/documents.ts'
import type { CreateCommand, GivenValues, PermittedCommand, UpdateCommand } from '../query/command.ts'
import { parseGivenValues } from '../query/parse-given-values.ts'
import { isRecord } from '../query/parse-place.ts'
import type { LocaleChoice, Query, Status } from '../query/query.ts'
import { parseSharedQuery } from '../rest/parameters/parse-query.ts'
import { parseDeletedLocale, parseWrittenLocale } from '../rest/parameters/parse-version.ts'
import {
  type ActionCall,
  invalidParam,
  type Params,
  type PrepareAction,
  unwrapOrThrow,
} from './action-call.ts'
import { authorizeCommand, authorizeQuery } from './authorize.ts'
import { parseDocumentId, parseWithSuggestions, toParameters } from './parse-params.ts'

export const prepareCreate: PrepareAction = (params, call) => {
  const answer = answerQuery('create', params, call)
  const fixed = { kind: 'create', type: call.type } as const
  const command = permitWrite(write => ({ ...fixed, ...write }), params, call)
  return async () => toDocument(unwrapOrThrow(await call.terms.documents.create(command, answer)).text)
}

export const prepareUpdate: PrepareAction = (params, call) => {
  const documentId = parseDocumentId(params, call)
  const answer = answerQuery('update', params, call)
  const fixed = { kind: 'update', type: call.type, documentId, precondition: null } as const
  const command = permitWrite(write => ({ ...fixed, ...write }), params, call)
  return async () => {
    if (documentId?.includes('\0')) return null
    const written = await call.terms.documents.update(command, answer)
    if (!written.ok && written.reasons[0]?.code === 'notFound') return null
    return toDocument(unwrapOrThrow(written).text)
  }
}

const toDocument = (text: string | null): unknown => (text === null ? null : JSON.parse(text))

interface ParsedWrite {
  readonly locale: string | null
  readonly status: Status
  readonly values: GivenValues
}

/** Checks the caller's own values; values that middlewares changed are trusted. */
function permitWrite<Kind extends CreateCommand | UpdateCommand>(
  toCommand: (write: ParsedWrite) => Kind,
  params: Params,
  call: ActionCall,
): PermittedCommand<Kind> {
  const sealed = call.caller === null || call.original !== null
  const command = toCommand(parseWrite(params, call, sealed))
  if (!call.original) return authorizeCommand(command, call)
  const before = toCommand(parseWrite(call.original, call, false))
  return permitModified(command, before, authorizeCommand(before, call))
}

/** `sealed`: accept values that no request may set, such as timestamps. */
function parseWrite(params: Params, { type, terms }: ActionCall, sealed: boolean): ParsedWrite {
  const { data } = params
  if (!isRecord(data)) throw invalidParam('data must be an object of attributes', 'data')
  const locale = unwrapOrThrow(parseWrittenLocale(type, params.locale, terms.model))
  const status = type.draftAndPublish && params.status !== 'published' ? 'draft' : 'published'
  const values = parseWithSuggestions(type, () => parseGivenValues(type, data, { sealed }))
  return { locale, status, values }
}

/** The query that reads the written document, in the written locale. */
export function answerQuery(action: Action, params: Params, call: ActionCall): Answer {
  const { type, terms } = call
  const shared = parseWithSuggestions(type, () => parseSharedQuery(type, toParameters(call, params), terms))
  const written = unwrapOrThrow(parseDeletedLocale(type, params.locale, terms.model))
  const query: Query = { ...shared, take: { kind: 'one', documentId: null }, locale: toLocaleChoice(written) }
  return { query: authorizeQuery(query, call, action), shape: 'flat' }
}

const toLocaleChoice = (locale: string | null): LocaleChoice =>
  locale === null ? { kind: 'all' } : { kind: 'these', codes: [locale] }
