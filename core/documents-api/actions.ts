import type { DocumentAction } from '../plugins/services/documents-api.ts'
import type { Prepare } from './act.ts'
import { count, findFirst, findMany, findOne } from './reads.ts'
import { discardDraft, publish, remove, unpublish } from './versions.ts'
import { create, update } from './writes.ts'

/** What can be done with documents: the parameters that are known, and how it is prepared. */
interface ActionTerms {
  readonly params: readonly string[]
  readonly prepare: Prepare
}

const ANSWER = ['populate', 'fields']
const FIND = ['filters', '_q', 'publicationFilter', 'hasPublishedVersion', 'status', 'locale']
const VERSIONS = ['documentId', 'locale', ...ANSWER]

export const ACTIONS: Readonly<Record<DocumentAction, ActionTerms>> = {
  findMany: { params: [...FIND, ...ANSWER, 'sort', 'pagination', 'start', 'limit'], prepare: findMany },
  findFirst: { params: [...FIND, ...ANSWER, 'sort'], prepare: findFirst },
  findOne: { params: ['documentId', 'status', 'locale', ...ANSWER], prepare: findOne },
  count: { params: FIND, prepare: count },
  create: { params: ['data', 'status', 'locale', ...ANSWER], prepare: create },
  update: { params: ['documentId', 'data', 'status', 'locale', ...ANSWER], prepare: update },
  delete: { params: VERSIONS, prepare: remove },
  publish: { params: VERSIONS, prepare: publish },
  unpublish: { params: VERSIONS, prepare: unpublish },
  discardDraft: { params: VERSIONS, prepare: discardDraft },
}
