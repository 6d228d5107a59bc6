import test, { type ExecutionContext } from 'ava'
import type { TestApp } from '../../core/testing.ts'
import { openTestApp } from '../harness/test-app.ts'

async function open(t: ExecutionContext): Promise<TestApp> {
  const project = {
    name: 'Lists',
    contentTypes: { note: { attributes: { title: 'string', tags: 'array', meta: 'json' } } },
    roles: { public: { permissions: { '*': '*' } } },
  }
  const app = await openTestApp(t, { project })
  const documents = { a: ['red', 'blue'], b: ['green', 1], c: ['1', 'redder', true], d: null, e: [] }
  for (const [title, tags] of Object.entries(documents))
    await app.request('POST', '/api/notes', { body: { data: { title, tags } } })
  return app
}

test('$contains and $notContains test whether a list has an entry', async t => {
  const { request } = await open(t)
  const find = async (query: string): Promise<string> => {
    const { status, body } = await request('GET', `/api/notes?sort=title&${query}`)
    t.is(status, 200, JSON.stringify(body))
    return (body as { data: { title: string }[] }).data.map(({ title }) => title).join('')
  }
  t.is(await find('filters[tags][$contains]=red'), 'a', 'a part of an entry is none')
  t.is(await find('filters[tags][$contains]=1'), 'bc', 'a number, and its text')
  t.is(await find('filters[tags][$contains]=true'), 'c')
  t.is(await find('filters[tags][$contains][0]=green&filters[tags][$contains][1]=blue'), 'ab', 'any of them')
  t.is(await find('filters[tags][$notContains]=red'), 'bce', 'what has no list is not known')
  t.is(await find('filters[tags][$notContains]=1'), 'ae')
  t.is(await find('filters[$not][tags][$contains]=red'), 'bce')
  t.is(await find(`filters[tags][$contains]=${encodeURIComponent(`"]'\\`)}`), '')
})

test('GraphQL filters lists alike, and values keep their types', async t => {
  const { graphql } = await open(t)
  const find = async (filters: string): Promise<string> => {
    const { data, errors } = await graphql(
      `{ notes(filters: { tags: { ${filters} } }, sort: "title") { data { attributes { title } } } }`,
    )
    t.is(errors, undefined)
    const { notes } = data as { notes: { data: { attributes: { title: string } }[] } }
    return notes.data.map(({ attributes }) => attributes.title).join('')
  }
  t.is(await find('contains: "red"'), 'a')
  t.is(await find('contains: 1'), 'b')
  t.is(await find('notContains: "red"'), 'bce')
})

test('other text operators on lists and JSON are refused with the reason', async t => {
  const { request } = await open(t)
  for (const [attribute, operator] of [
    ['tags', '$startsWith'],
    ['tags', '$endsWith'],
    ['meta', '$contains'],
    ['meta', '$notContains'],
  ] as const) {
    const { status, body } = await request('GET', `/api/notes?filters[${attribute}][${operator}]=red`)
    t.is(status, 400)
    t.like(body, {
      error: { name: 'ValidationError', details: { key: operator, path: attribute, param: 'filters' } },
    })
  }
})
