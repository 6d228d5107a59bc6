import { Readable } from 'node:stream'
import test from 'ava'
import type { Caller } from '../../core/access/caller.ts'
import type { Documents } from '../../core/documents/documents.ts'
import type { HttpResponse } from '../../core/faults/http-exchange.ts'
import type { Command } from '../../core/query/command.ts'
import { openRest } from '../../core/rest/open-rest.ts'
import { world } from '../access/project.ts'
import { answerOf } from '../harness/answer-of.ts'
import { SETTINGS } from './reading.ts'

// Translates requests into calls of the documents service; tests/end-to-end covers the results.
const of = await world('roles: { all: { permissions: { "*": "*" } } }')
const grants = of.access.roles.get('all')
if (!grants) throw new Error('no role')
const caller: Caller = { kind: 'token', grants, user: null }

interface PlanRequest {
  readonly body?: string
  readonly headers?: Readonly<Record<string, string>>
}

const WRITTEN = { documentId: 'x', text: '{"id":1}' }

/** The answer to a request, and the command that it became. */
async function ask(method: string, url: string, { body = '', headers = {} }: PlanRequest = {}) {
  const input: Command[] = []
  const notOverRest = () => Promise.reject(new Error('a status was changed'))
  const documents: Documents = {
    findMany: () => Promise.reject(new Error('a list was read')),
    findOne: () => Promise.reject(new Error('a document was read')),
    findAcross: () => Promise.reject(new Error('lists were read')),
    findRows: () => Promise.reject(new Error('rows were read')),
    findBody: () => Promise.reject(new Error('a document was read')),
    create: async command => {
      input.push(command)
      return WRITTEN
    },
    update: async command => {
      input.push(command)
      return WRITTEN
    },
    delete: async command => {
      input.push(command)
      return null
    },
    updateByStatus: notOverRest,
    publish: notOverRest,
    unpublish: notOverRest,
    changeMany: notOverRest,
    discardDraft: notOverRest,
  }
  const rest = openRest({
    model: of.model,
    settings: SETTINGS,
    documents,
    identify: async () => caller,
    runMiddlewares: null,
  })
  const [path = '', search = ''] = url.split('?')
  const answer = await answerOf(rest, {
    id: '1',
    method,
    path: `/api/${path}`,
    search,
    headers: { 'content-type': 'application/json', ...headers },
    peer: '127.0.0.1',
    body: async () => Buffer.from(body),
    stream: () => Readable.from([]),
  })
  if (!answer) throw new Error(`no answer to ${method} ${url}`)
  return { answer, command: input[0] }
}

/** The message of a fault. */
const messageOf = ({ body }: HttpResponse): string => JSON.parse(String(body)).error.message

const BODY = '{"data":{"title":"x"}}'

test('POST creates in a status and a locale: 201 with the envelope, and no Location', async t => {
  const { answer, command } = await ask('POST', 'books', { body: BODY })
  t.deepEqual(answer, { status: 201, body: '{"data":{"id":1},"meta":{}}', hasEtag: true })
  t.like(command, { kind: 'create', status: 'published', locale: 'en', values: { title: 'x' } })
  t.like((await ask('POST', 'books?status=draft&locale=fr', { body: BODY })).command, {
    status: 'draft',
    locale: 'fr',
  })
  t.like((await ask('POST', 'writers?status=draft&locale=xx', { body: '{"data":{}}' })).command, {
    status: 'published',
    locale: null,
  })
})

test('PUT updates the addressed document, with the tags of If-Match', async t => {
  const { answer, command } = await ask('PUT', 'books/abc', {
    body: BODY,
    headers: { 'if-match': '"t1", "t2"' },
  })
  t.is(answer.status, 200)
  t.like(command, { kind: 'update', documentId: 'abc', precondition: { tags: ['t1', 't2'] } })
  t.like((await ask('PUT', 'books/abc', { body: BODY })).command, { precondition: null })
})

test('DELETE removes one locale or all, and ignores its body', async t => {
  const { answer, command } = await ask('DELETE', 'books/abc?locale=*', { body: '{' })
  t.deepEqual(answer, { status: 204, body: null })
  t.like(command, { kind: 'delete', documentId: 'abc', locale: null })
  t.like((await ask('DELETE', 'books/abc')).command, { locale: 'en' })
  const draft = await ask('DELETE', 'books/abc?status=draft')
  t.is(draft.command, undefined)
  t.is(draft.answer.status, 400)
})

test('a refused request changes no document, and reports the first reason', async t => {
  for (const [url, body, message] of [
    ['books?status=x&fields=nothing', '{', 'Invalid key nothing'],
    ['books?status=', '{', 'Invalid value for status: expected published or draft'],
    ['books?locale=de', '{', 'Unknown locale de: the locales are en, fr'],
    ['books?locale=*', '{', 'Invalid locale param * provided. Document locales must be strings.'],
    ['books?filters[nothing]=1', '{', 'Invalid key nothing'],
    ['books', '{"data":5}', 'Missing "data" payload in the request body'],
    ['books', '{"data":{"nothing":1}}', 'Invalid key nothing'],
    ['books', '{"data":{"id":1}}', 'Invalid key id'],
  ] as const) {
    const { answer, command } = await ask('POST', url, { body })
    t.is(command, undefined, url)
    t.deepEqual([answer.status, messageOf(answer)], [400, message], url)
  }
})

test('filters of a write are validated and then ignored', async t => {
  const { answer } = await ask('POST', 'books?filters[title]=other&sort=title&_q=x', { body: BODY })
  t.is(answer.status, 201)
})

test('an impossible id is not found', async t => {
  t.is((await ask('PUT', 'books/a%00b', { body: BODY })).answer.status, 404)
  t.is((await ask('DELETE', 'books/a%00b')).answer.status, 204)
})

test('paths below a document or a single type support no method', async t => {
  for (const [method, path] of [
    ['POST', 'books/abc/actions/publish'],
    ['PUT', 'books/abc/writer'],
    ['POST', 'books/abc'],
    ['PUT', 'books'],
  ] as const) {
    const { answer, command } = await ask(method, path, { body: BODY })
    t.is(command, undefined, path)
    t.deepEqual([answer.status, answer.body], [405, 'Method Not Allowed'], path)
  }
})
