import type { GraphQLResolveInfo } from 'graphql'
import type { Action } from '../../access/actions.ts'
import type { Caller, WriteAction } from '../../access/caller.ts'
import { permit } from '../../access/restrict/permit.ts'
import { restrict } from '../../access/restrict/restrict.ts'
import type { RequestContext } from '../../base/request-context.ts'
import type { Result } from '../../base/result.ts'
import type { Answer, Written } from '../../documents/documents.ts'
import { type Fault, fault, forbidden } from '../../faults/fault.ts'
import type { Arguments } from '../parse/operation-context.ts'
import {
  parseAnswer,
  parseLocale,
  parseValues,
  toCreate,
  toLocalize,
  toUpdates,
  type WritePlace,
} from '../parse/parse-write.ts'
import { must, toGraphqlError } from '../parse/to-graphql-error.ts'
import type { RootField } from '../sdl/root-fields.ts'
import { findDocument, type NamedDocument } from './find-document.ts'
import { type Acting, contextOf, type ResolveTerms } from './resolve-read.ts'
import type { AnsweredRow } from './resolvers.ts'

/** What a mutation answers with; a function where reading it is what fails. */
interface Response {
  readonly data: AnsweredRow | null | (() => never)
}

/** One mutation of one caller. */
interface Visit {
  readonly root: RootField
  readonly given: Arguments
  readonly caller: Caller
  readonly trail: RequestContext | undefined
  readonly info: GraphQLResolveInfo
  readonly terms: ResolveTerms
}

type Write = (visit: Visit) => Promise<Response>

/** A generated mutation: one transaction, which its answer is read in. */
export function writeResolver(root: RootField, terms: ResolveTerms) {
  const action = actionOf(root)
  return (_: unknown, given: Arguments, { caller, signal, trail }: Acting, info: GraphQLResolveInfo) => {
    // Of several, those whose turn comes too late are not begun.
    signal?.throwIfAborted()
    // Before anything is looked up: who may not write is not told what is there.
    if (!caller.grants.writeAccess(root.type, action)) throw toGraphqlError(forbidden())
    return WRITES[action]({ root, given, caller, trail, info, terms })
  }
}

function actionOf({ action, name }: RootField): keyof typeof WRITES {
  if (action === 'localize') return 'createLocalization'
  if (action === 'find' || action === 'findOne') throw new TypeError(`${name} is not a mutation`)
  return action
}

async function create(visit: Visit): Promise<Response> {
  const { root, given, caller, terms } = visit
  const place = placeOf(visit, null)
  const answer = answerOf(visit, place, 'create')
  const command = toCreate(place, must(parseValues(root.type, given.data)))
  return toResponse(await terms.documents.create(must(permit(command, caller)), answer))
}

async function update(visit: Visit): Promise<Response> {
  const { root, given, caller, terms } = visit
  const named = await namedBy(visit)
  const place = placeOf(visit, named)
  const answer = answerOf(visit, place, 'update')
  const input = must(parseValues(root.type, given.data))
  const { draft, published } = toUpdates(place, named?.documentId ?? null, input)
  const updated =
    root.type.draftAndPublish && draft !== published
      ? await terms.documents.amend(
          { draft: must(permit(draft, caller)), published: permit(published, caller) },
          answer,
        )
      : await terms.documents.update(must(permit(published, caller)), answer)
  if (!updated.ok && root.type.kind === 'single' && updated.reasons[0]?.code !== 'forbidden')
    return { data: () => must(updated) as never }
  return !updated.ok && updated.reasons[0]?.code === 'notFound' ? NOTHING : toResponse(updated)
}

async function remove(visit: Visit): Promise<Response> {
  const { root, caller, terms } = visit
  const named = await namedBy(visit)
  const place = placeOf(visit, named)
  const answer = answerOf(visit, place, 'delete')
  const command = {
    ...place,
    kind: 'delete',
    documentId: named?.documentId ?? null,
    precondition: null,
  } as const
  const text = must(await terms.documents.delete(must(permit(command, caller)), [], answer))
  if (text === null && root.type.kind === 'single') throw toGraphqlError(NOT_FOUND)
  return { data: text === null ? null : JSON.parse(text) }
}

async function localize(visit: Visit): Promise<Response> {
  const { root, given, caller, terms } = visit
  const named = await namedBy(visit)
  const place = placeOf(visit, null)
  const answer = answerOf(visit, place, 'createLocalization')
  if (given.locale === undefined || given.locale === null)
    throw toGraphqlError(fault('application', 'locale is missing'))
  const command = toLocalize(place, named?.documentId ?? null, must(parseValues(root.type, given.data)))
  const made = await terms.documents.update(must(permit(command, caller)), answer)
  if (!made.ok && made.reasons[0]?.code === 'notFound') throw toGraphqlError(NOT_FOUND)
  return toResponse(made)
}

const WRITES = { create, update, delete: remove, createLocalization: localize } satisfies Partial<
  Record<WriteAction, Write>
>

const NOTHING: Response = { data: null }

const NOT_FOUND: Fault = fault('notFound', 'Entity not found')

/** No document has this id. An unknown id takes the same way as that of a hidden document, so that no check tells them apart. */
const ABSENT: NamedDocument = { documentId: '', locale: null }

/** null: the only document of a single type. */
async function namedBy({ root: { type }, given, terms }: Visit): Promise<NamedDocument | null> {
  if (type.kind === 'single') return null
  return (await findDocument(type, given.id, terms)) ?? ABSENT
}

function placeOf({ root: { type }, given, terms }: Visit, named: NamedDocument | null): WritePlace {
  const raw = given.locale ?? named?.locale
  return { type, locale: must(parseLocale(type, raw, terms.model)) }
}

/** What the caller gets to see of the written document; refuses him (403) where he may not do the action at all. */
function answerOf(
  { root, info, caller, trail, terms }: Visit,
  { locale }: WritePlace,
  action: Action,
): Answer {
  const context = contextOf(info, caller, terms)
  const query = must(parseAnswer({ root, nodes: info.fieldNodes }, locale, context))
  return { query: must(restrict(query, caller, action)), shape: 'flat', ...(trail && { trail }) }
}

function toResponse(written: Result<Written, Fault>): Response {
  const { text } = must(written)
  return { data: text === null ? null : JSON.parse(text) }
}
