import test from 'ava'
import { answered, openWritingRoom, reported, type WritingRoom } from './writing-room.ts'

let room: WritingRoom
test.before(async () => {
  room = await openWritingRoom()
})
test.after.always(() => room?.close())

const CHANGED = '412 If-Match is not met: the document has changed since, or was seen under other parameters'
const ABSENT = '412 If-Match is not met: there is no such document'

/** The tag of an answer. */
const tagOf = async (path: string, format: Readonly<Record<string, string>> = {}): Promise<string> => {
  const { headers } = await room.send('GET', path, undefined, { headers: format })
  const tag = headers.get('etag')
  if (tag === null) throw new Error(`no tag of ${path}`)
  return tag
}

/** The result of a DELETE with a tag. */
const remove = async (path: string, match: string, format: Readonly<Record<string, string>> = {}) =>
  reported(await room.send('DELETE', path, undefined, { headers: { 'if-match': match, ...format } }))

test('an update with If-Match applies only to the state that the caller has seen', async t => {
  const id = await room.make('/api/people', { name: 'Ann' })
  const seen = await room.send('GET', `/api/people/${id}`)
  const tag = seen.headers.get('etag') ?? ''
  const change = (name: string, match: string, method = 'PUT') =>
    room.send(method, `/api/people/${id}`, method === 'PUT' ? { name } : undefined, {
      headers: { 'if-match': match },
    })
  const changed = await change('Bea', tag)
  t.is(changed.status, 200)
  t.is((await change('Cid', tag)).status, 412)
  t.is((await change('Cid', tag, 'DELETE')).status, 412)
  t.is(answered(await room.send('GET', `/api/people/${id}`), 'name'), 'Bea')
  t.is((await change('Dan', changed.headers.get('etag') ?? '')).status, 200, 'the tag of the change itself')
  t.is((await change('Eve', '*')).status, 200)
  t.is((await change('', '*', 'DELETE')).status, 204)
  t.is((await change('', '*', 'DELETE')).status, 412, 'there is nothing to match')
})

test('one matching tag of several is enough; weak ones, other texts and an empty list match nothing', async t => {
  const id = await room.make('/api/people', { name: 'Ann' })
  const path = `/api/people/${id}`
  const tag = await tagOf(path)
  for (const match of [
    `W/${tag}`,
    tag.replaceAll('"', ''),
    `${tag}, x`,
    `x${tag}`,
    '"other"',
    '"*"',
    '',
    ',',
    '*, *',
  ]) {
    const changed = await room.send('PUT', path, { name: 'Refused' }, { headers: { 'if-match': match } })
    t.is(reported(changed), CHANGED, match)
    t.is(await remove(path, match), CHANGED, match)
  }
  t.is(answered(await room.send('GET', path), 'name'), 'Ann')
  const refused = await room.send('PUT', path, { name: 'Bea' }, { headers: { 'if-match': '"other"' } })
  t.like(refused.body.error, { status: 412, name: 'PreconditionFailedError', details: {} })
  const list = `W/${tag}, "a, b" ,${tag}`
  t.is(reported(await room.send('PUT', path, { name: 'Ann' }, { headers: { 'if-match': list } })), '200')
  t.is(await remove(path, `"x",${await tagOf(path)}`), '204')
})

test('If-Match of a delete accepts the ETag of the published version or the draft, until either changes', async t => {
  const id = await room.make('/api/articles', { title: 'One' })
  const path = `/api/articles/${id}`
  const [published, draft] = [await tagOf(path), await tagOf(`${path}?status=draft`)]
  t.not(published, draft)
  await room.send('PUT', path, { title: 'Two' })
  t.is(await remove(path, `${published}, ${draft}`), CHANGED)
  t.is(await remove(path, await tagOf(path)), '204')
  t.is(await remove(path, published), ABSENT)
  const never = await room.make('/api/articles?status=draft', { title: 'Draft' })
  t.is(await remove(`/api/articles/${never}`, await tagOf(`/api/articles/${never}?status=draft`)), '204')
})

test('an ETag belongs to the response for the same parameters', async t => {
  const id = await room.make('/api/articles', { title: 'One' })
  const path = `/api/articles/${id}`
  await room.send('PUT', `${path}?locale=fr`, { title: 'Un' })
  const fields = `${path}?fields=title&populate=author`
  t.is(await remove(path, await tagOf(fields)), CHANGED)
  t.is(await remove(path, await tagOf(`${path}?locale=fr`)), CHANGED)
  t.is(await remove(`${path}?locale=fr`, await tagOf(`${path}?locale=fr`)), '204')
  const v4 = { 'strapi-response-format': 'v4' }
  t.is(await remove(fields, await tagOf(fields, v4)), CHANGED)
  t.is(await remove(fields, await tagOf(fields, v4), v4), '204')
  const both = await room.make('/api/articles', { title: 'Both' })
  await room.send('PUT', `/api/articles/${both}?locale=fr`, { title: 'Les deux' })
  t.is(await remove(`/api/articles/${both}?locale=*`, await tagOf(`/api/articles/${both}`)), '204')
})

test('the document of a single type is changed and deleted only with its ETag', async t => {
  const path = '/api/homepage'
  const put = async (greeting: string, match: string) =>
    reported(await room.send('PUT', path, { greeting }, { headers: { 'if-match': match } }))
  t.is(await put('Hello', '*'), ABSENT)
  t.is(await remove(path, '*'), ABSENT)
  await room.send('PUT', path, { greeting: 'Hello' })
  const tag = await tagOf(path)
  t.is(await put('Welcome', tag), '200')
  t.is(await put('Bye', tag), CHANGED)
  t.is(await remove(path, tag), CHANGED)
  t.is(await remove(path, await tagOf(path)), '204')
  t.is(reported(await room.send('GET', path)), '404 Not Found')
})

test('one of several writers that saw the same state succeeds', async t => {
  const id = await room.make('/api/people', { name: 'Ann' })
  const path = `/api/people/${id}`
  const tag = await tagOf(path)
  const changes = ['a', 'b', 'c', 'd', 'e'].map(name =>
    room.send('PUT', path, { name }, { headers: { 'if-match': tag } }),
  )
  const statuses = (await Promise.all(changes)).map(({ status }) => status)
  t.deepEqual(statuses.toSorted(), [200, 412, 412, 412, 412])
})

test('a condition that a write does not evaluate is refused, and nothing is written', async t => {
  const id = await room.make('/api/people', { name: 'Ann' })
  const cases: readonly (readonly [method: string, path: string, headers: readonly string[]])[] = [
    ['PUT', `/api/people/${id}`, ['If-None-Match']],
    ['DELETE', `/api/people/${id}`, ['If-None-Match']],
    ['POST', '/api/people', ['If-Match', 'If-None-Match']],
    ['POST', '/api/actions/articles/any/unpublish', ['If-Match', 'If-None-Match']],
    ['POST', '/api/actions/articles/any/discard-draft', ['If-Match', 'If-None-Match']],
    ['PUT', '/api/users/1', ['If-Match', 'If-None-Match']],
    ['DELETE', '/api/users/1', ['If-Match', 'If-None-Match']],
    ['POST', '/api/upload', ['If-Match', 'If-None-Match']],
    ['DELETE', '/api/upload/files/1', ['If-Match', 'If-None-Match']],
  ]
  // Other tests write to other people at the same time.
  const shown = async () => [
    (await room.send('GET', `/api/people/${id}`)).body,
    (await room.send('GET', '/api/people?filters[name]=Refused')).body,
  ]
  const before = await shown()
  for (const [method, path, headers] of cases)
    for (const header of headers)
      for (const value of ['*', '"tag"']) {
        const refused = await room.send(method, path, { name: 'Bea' }, { headers: { [header]: value } })
        const message = `400 ${header} is not evaluated by ${method} of this path: send the request without it`
        t.is(reported(refused), message, `${method} ${path}`)
      }
  t.deepEqual(await shown(), before)
  const read = await room.send('GET', `/api/people/${id}`, undefined, { headers: { 'if-none-match': '*' } })
  t.is(read.status, 304)
})
