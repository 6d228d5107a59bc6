import { connect } from 'node:net'
import test from 'ava'
import {
  type Filter,
  filterOf,
  guardedFilterOf,
  numbersFrom,
  populateOf,
  printFilter,
  requestOf,
  sortOf,
} from './fuzz.ts'
import { type Body, metaOf, openRoom, type Room, type Token } from './reading-room.ts'

// Requests made up at random, the same ones at every run, and laws that hold whatever they mean. Safety rules
// S1, S3, S11, S14 and S25.
const SEED = 20_261_121

let room: Room
test.before(async () => {
  room = await openRoom()
})
test.after.always(() => room?.close())

/** The documents that meet a query, in order; every page holds at most 8 of the 5 or less that there are. */
async function found(token: Token | null, query: string): Promise<readonly string[]> {
  const answer = await room.get(`/api/books?fields=id&pagination[limit]=8&${query}`, token)
  if (answer.status !== 200) throw new Error(`${answer.status} ${query} ${JSON.stringify(answer.body)}`)
  const { data } = answer.body as { data: readonly Body[] }
  return data.map(({ documentId }) => String(documentId))
}

/** Inside a group, because a top-level condition on the locale would replace the default one. */
const met = (token: Token | null, filter: Filter) => found(token, printFilter({ $and: [filter] }))

/** A way over these may hold for one related document and fail for another. */
const OVER_LISTS = /subjects|sequels|editions|books|links/

test('a condition returns a subset, and its negation the complement', async t => {
  const random = numbersFrom(SEED)
  const all = await found('full', '')
  for (let round = 0; round < 60; round++) {
    const filter = filterOf(random)
    const held = await met('full', filter)
    const rest = await met('full', { $not: filter })
    t.true(
      [...held, ...rest].every(id => all.includes(id)),
      printFilter(filter),
    )
    if (!OVER_LISTS.test(printFilter(filter)))
      t.false(
        rest.some(id => held.includes(id)),
        printFilter(filter),
      )
  }
})

test('$and of two conditions is the intersection of their results, $or the union', async t => {
  const random = numbersFrom(SEED + 1)
  for (let round = 0; round < 30; round++) {
    const [one, two] = [filterOf(random), filterOf(random)]
    const [left, right] = [await met('full', one), await met('full', two)]
    const both = { $and: [one, two] }
    const either = { $or: [one, two] }
    t.deepEqual(
      await met('full', both),
      left.filter(id => right.includes(id)),
      printFilter(both),
    )
    t.deepEqual(
      (await met('full', either)).toSorted(),
      [...new Set([...left, ...right])].toSorted(),
      printFilter(either),
    )
  }
})

test('pages of any sort and condition contain every document once, and the total is exact', async t => {
  const random = numbersFrom(SEED + 2)
  for (let round = 0; round < 30; round++) {
    const query = `${round % 2 ? printFilter(filterOf(random)) : ''}&sort=${sortOf(random)}&status=draft`
    const whole = await found('full', query)
    const paged: unknown[] = []
    for (let page = 1; page <= 3; page++) {
      const answer = await room.get(
        `/api/books?${query}&fields=id&pagination[page]=${page}&pagination[pageSize]=2`,
      )
      t.is((metaOf(answer).pagination as Body).total, whole.length, query)
      paged.push(...(answer.body as { data: readonly Body[] }).data.map(({ documentId }) => documentId))
    }
    t.deepEqual(paged, [...whole], query)
  }
})

test('a caller without access to drafts or all documents finds no hidden one under any filter', async t => {
  const random = numbersFrom(SEED + 3)
  const allowed = await found('guarded', '')
  t.deepEqual(allowed, ['ember'])
  for (let round = 0; round < 60; round++) {
    const query = `${printFilter(guardedFilterOf(random))}&fields=title,pages&locale=*`
    for (const status of ['published', 'draft']) {
      const answer = await room.get(`/api/books?${query}&status=${status}`, 'guarded')
      t.true([200, 403].includes(answer.status), `${answer.status} ${query}`)
      const { data } = answer.body as { data: readonly Body[] | null }
      t.true(
        (data ?? []).every(book => allowed.includes(String(book.documentId)) && book.publishedAt !== null),
        query,
      )
    }
  }
})

test('no populate returns private attributes', async t => {
  const random = numbersFrom(SEED + 4)
  const seen = new Set<number>()
  for (let round = 0; round < 120; round++) {
    const query = populateOf(random)
    const answer = await room.get(`/api/books?${query}&status=draft`, round % 3 === 0 ? null : 'full')
    seen.add(answer.status)
    t.true([200, 400].includes(answer.status), `${answer.status} ${query}`)
    t.notRegex(JSON.stringify(answer.body), /whisper|spine|"pin"|\$2[aby]\$/, query)
  }
  t.true(seen.has(200) && seen.has(400))
})

test('no bytes of a client cause a server error', async t => {
  const random = numbersFrom(SEED + 5)
  for (let round = 0; round < 300; round++) {
    const request = requestOf(random)
    const answer = await answerTo(request)
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(answer)?.[1])
    t.true(
      (status >= 100 && status < 500) || status === 501,
      `${JSON.stringify(request)} ${answer.slice(0, 60)}`,
    )
    t.notRegex(answer, /whisper|spine/, JSON.stringify(request))
  }
  t.is((await room.get('/api/books')).status, 200)
})

/** All that comes back until the server closes the connection. */
function answerTo(request: string): Promise<string> {
  return new Promise(resolve => {
    const socket = connect(Number(new URL(room.base).port), '127.0.0.1')
    let answer = ''
    const end = () => resolve(answer)
    socket.setTimeout(5_000, () => socket.destroy())
    socket.on('data', part => (answer += part.toString('latin1')))
    socket.on('close', end).on('error', end)
    socket.write(Buffer.from(request, 'latin1'))
  })
}
