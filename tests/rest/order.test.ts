import test from 'ava'
import { errorOf, openRoom, type Room } from '../end-to-end/reading-room.ts'

// reference/rest.md#2-errors, "Order of checks"
let room: Room
test.before(async () => {
  room = await openRoom()
})
test.after.always(() => room?.close())

const GARBAGE = { authorization: 'Bearer unknown-token' }

test('an unknown path is not found, for every caller', async t => {
  t.is((await room.get('/api/unicorns', null, GARBAGE)).status, 404)
  t.is((await room.get('/api/books/ember/author', null, GARBAGE)).status, 404)
})

test('an unsupported method is reported before authentication', async t => {
  t.is((await room.request('PATCH', '/api/books', GARBAGE)).status, 405)
  t.is((await room.request('POST', '/api/books/ember', GARBAGE)).status, 405)
})

test('an invalid credential is reported before an invalid query', async t => {
  t.is((await room.get('/api/books?filters[nothing]=1', null, GARBAGE)).status, 401)
})

test('a missing permission is reported before an invalid query', async t => {
  t.is((await room.get('/api/diaries?filters[nothing]=1', null)).status, 403)
  t.is((await room.get('/api/diaries/first-diary?status=other', null)).status, 403)
})

test('an invalid query is reported before a missing document', async t => {
  const answer = await room.get('/api/books/nothing?filters[nothing]=1')
  t.is(answer.status, 400)
  t.is(errorOf(answer).message, 'Invalid key nothing')
  t.is((await room.get('/api/books/nothing')).status, 404)
  t.is((await room.get('/api/books/a%00b')).status, 404)
  t.is((await room.get('/api/books/%E0%A4%A')).status, 400)
})
