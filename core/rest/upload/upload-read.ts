import type { Action } from '../../access/actions.ts'
import { restrict } from '../../access/restrict/restrict.ts'
import { ok, type Result } from '../../base/result.ts'
import { answerFault, type HttpAnswer } from '../../faults/exchange.ts'
import type { Fault } from '../../faults/fault.ts'
import type { ScalarAttribute } from '../../model/model.ts'
import type { Comparison, Query, Value } from '../../query/query.ts'
import { answer, refuse } from '../answer.ts'
import { parseSharedQuery } from '../parameters/parse-query.ts'
import { parseTopPage } from '../parameters/parse-top-page.ts'
import { parseId } from '../parse-id.ts'
import { type Parameters, parseQueryString } from '../parse-query-string.ts'
import { findRelated, splitRelated } from './upload-related.ts'
import { noFile, type UploadTerms, type UploadVisit } from './upload-visit.ts'

/** A bare list (contract/rest.md 15): `start` and `limit` stand at the top, `pagination` means nothing. */
export async function findFiles(visit: UploadVisit, terms: UploadTerms): Promise<HttpAnswer> {
  const parameters = parseQueryString(visit.request.search)
  if (!parameters.ok) return refuse(parameters)
  const shared = parseSharedQuery(terms.model.builtIn.file, parameters.value, terms)
  if (!shared.ok) return refuse(shared)
  const page = parseTopPage(parameters.value, terms.settings.maxLimit)
  if (!page.ok) return refuse(page)
  const take = { kind: 'many', page: page.value, total: false } as const
  const restricted = restrict({ ...shared.value, take, locale: { kind: 'all' } }, visit.caller)
  if (!restricted.ok) return refuse(restricted)
  const { text } = await terms.documents.findMany(restricted.value, 'flat')
  return answer(JSON.stringify(signed(text)), visit)
}

/** One file, all of it: `fields` leaves nothing out. */
export async function findFile(id: string, visit: UploadVisit, terms: UploadTerms): Promise<HttpAnswer> {
  const parameters = parseQueryString(visit.request.search)
  if (!parameters.ok) return refuse(parameters)
  const number = parseId(id)
  if (!number.ok) return refuse(number)
  const { fields: _, ...query } = parameters.value
  const { asked, related } = splitRelated(query)
  const wanted: Wanted = { asked, attribute: 'id', values: [number.value], action: 'findOne' }
  const found = await readFiles(wanted, visit, terms)
  if (!found.ok) return refuse(found)
  const [file] = found.value
  if (!file) return answerFault(noFile())
  const places = related ? { related: await findRelated(number.value, visit, terms) } : {}
  return answer(JSON.stringify({ ...file, ...places }), visit)
}

export interface Wanted {
  /** What else the query says. */
  readonly asked?: Parameters
  readonly attribute: 'id' | 'documentId'
  readonly values: readonly Value[]
  /** What the caller is about to do or has done: he has to be allowed to. */
  readonly action: Action
}

/** The records of some files as they are answered, in the order of their ids. */
export async function readFiles(
  { asked = {}, attribute, values, action }: Wanted,
  visit: UploadVisit,
  terms: UploadTerms,
): Promise<Result<readonly object[], Fault>> {
  const { file } = terms.model.builtIn
  const shared = parseSharedQuery(file, asked, terms)
  if (!shared.ok) return shared
  const id = file.attributes.get(attribute)
  if (id?.kind !== 'scalar') throw new TypeError(`files have no ${attribute}`)
  const filters = [oneOf(id, values), ...(shared.value.filter ? [shared.value.filter] : [])]
  const query: Query = {
    ...shared.value,
    filter: { kind: 'and', filters },
    take: { kind: 'many', page: { start: 0, limit: values.length }, total: false },
    locale: { kind: 'all' },
  }
  const restricted = restrict(query, visit.caller, action)
  if (!restricted.ok) return restricted
  const { text } = await terms.documents.findMany(restricted.value, 'flat')
  return ok(signed(text))
}

const oneOf = (attribute: ScalarAttribute, values: readonly Value[]): Comparison => ({
  kind: 'comparison',
  attribute,
  operator: '$in',
  values,
})

/** Addresses are open to all, so none is signed; the reference says so in every record. */
function signed(text: string): readonly object[] {
  const files: unknown = JSON.parse(text)
  return Array.isArray(files) ? files.map((file: object) => ({ ...file, isUrlSigned: false })) : []
}
