import test, { type ExecutionContext } from 'ava'
import { numbersFrom, type Random } from '../end-to-end/fuzz.ts'
import { contentOf, drawSecrecy, openTwin, perturb, type Secrecy, settle, type Twin } from './twin-project.ts'
import { drawing, graphqlQuestion, type Question, restQuestion } from './twin-questions.ts'
import { writeQuestion } from './twin-writes.ts'
import { FULL, type Reported } from './world.ts'

// Two servers of one random project hold data that differ only in what a caller may not read: attributes, documents,
// locales, drafts, links to hidden documents and their number. Every request of this caller has the same answer from both.
// TWINS_SEED and TWINS_QUESTIONS ask for other projects and more requests.
const SEED = Number(process.env.TWINS_SEED ?? 51)
const QUESTIONS = Number(process.env.TWINS_QUESTIONS ?? 100)

interface Pair {
  readonly twins: readonly [Twin, Twin]
  readonly secrecy: Secrecy
  readonly random: Random
}

async function openPair(
  t: ExecutionContext,
  { seed, publishing = false }: { readonly seed: number; readonly publishing?: boolean },
): Promise<Pair> {
  const random = numbersFrom(seed * 7919 + 13)
  for (let skipped = 0; skipped < 5; skipped++) random()
  const secrecy = drawSecrecy(random)
  t.log(JSON.stringify({ seed, secrecy }))
  const content = contentOf(random)
  const [first, second] = [await openTwin(secrecy, content), await openTwin(secrecy, content)]
  t.teardown(() => Promise.all([first.world.close(), second.world.close()]))
  await perturb(second, { secrecy, random, publishing })
  for (const twin of [first, second]) await settle(twin)
  return { twins: [first, second], secrecy, random }
}

async function bothAsked(
  { twins }: Pair,
  { method, path, ...asking }: Question,
): Promise<[Reported, Reported]> {
  const [first, second] = twins
  const ask = ({ world, as }: Twin) => world.ask(method, path, { ...asking, as })
  return [await ask(first), await ask(second)]
}

/** Without what the clock, random ids and sequences determine. */
const settled = ({ status, text }: Reported) => ({
  status,
  text: text
    .replaceAll(/20(?!24)\d\d-\d\d-\d\dT[\d:.]+Z/g, '…')
    .replaceAll(/"(documentId|id)":"[a-z0-9]{24}"/g, '"$1":"…"')
    .replaceAll(/"id":"?[5-9]\d{3}"?/g, '"id":"…"'),
})

const cursorOf = ({ text }: Reported): string | undefined => /"next":"([^"]+)"/.exec(text)?.[1]

for (const seed of [SEED, SEED + 3])
  test.serial(`no read tells what is hidden from the caller (${seed})`, async t => {
    const pair = await openPair(t, { seed })
    const { random, secrecy } = pair
    const { tame, bold } = drawing(random, secrecy.hidden)
    const statuses = new Set<number>()
    for (let asked = 0; asked < QUESTIONS; asked++) {
      const draw = random() < 0.2 ? bold : tame
      const question = random() < 0.6 ? restQuestion(draw) : graphqlQuestion(draw)
      const [first, second] = await bothAsked(pair, question)
      const about = `${question.method} ${decodeURIComponent(question.path)} ${question.body ?? ''}`
      t.deepEqual(first, second, about)
      t.true(first.status < 500, about)
      statuses.add(first.status)
      const cursor = cursorOf(first)
      if (cursor === undefined) continue
      const path = question.path.replace('[after]=', `[after]=${encodeURIComponent(cursor)}`)
      t.deepEqual(...(await bothAsked(pair, { ...question, path })), path)
    }
    for (const status of [200, 400, 404]) t.true(statuses.has(status), `no answer had the status ${status}`)
    t.deepEqual(...(await bothAsked(pair, { method: 'GET', path: '/api/openapi.json' })))
  })

const LOOKS = [
  '/api/posts?locale=*&sort=id&populate=*&pagination[limit]=100',
  '/api/tags?populate=*&pagination[limit]=100',
  '/api/page?populate[featured]=true&populate[body][populate]=*',
  '/api/categories?populate=*',
]

const HIDDEN = ['p2', 'p4', 'p8'].map((id, at) => `filters[documentId][$in][${at}]=${id}`).join('&')

/** Attributes and components of the hidden posts, also of their drafts, without links that visible documents share. */
async function hiddenPosts({ twins: [{ world }] }: Pair): Promise<readonly string[]> {
  const found: string[] = []
  for (const status of ['draft', 'published']) {
    const path = `/api/posts?locale=*&status=${status}&${HIDDEN}&populate[parts]=true&populate[seo]=true&sort=id`
    found.push((await world.ask('GET', path, { as: FULL })).text)
  }
  return found
}

for (const seed of [SEED - 7, SEED + 1])
  test.serial(`no write tells or changes what is hidden from the caller (${seed})`, async t => {
    const pair = await openPair(t, { seed, publishing: true })
    const { random, secrecy } = pair
    const before = await hiddenPosts(pair)
    for (const name of ['p2', 'p4', 'p8']) t.true(before.join().includes(`"documentId":"${name}"`))
    const looks = secrecy.drafts ? [...LOOKS, '/api/posts?status=draft&locale=*&sort=id&populate=*'] : LOOKS
    let written = 0
    for (let asked = 0; asked < QUESTIONS / 2; asked++) {
      const question = writeQuestion(random, asked)
      const [first, second] = await bothAsked(pair, question)
      const about = `${question.method} ${question.path} ${question.body ?? ''}`
      t.deepEqual(settled(first), settled(second), about)
      t.true(first.status < 500, about)
      if (first.status >= 300) continue
      written++
      for (const path of looks) {
        const [one, other] = await bothAsked(pair, { method: 'GET', path })
        t.deepEqual(settled(one), settled(other), `${path} after ${about}`)
      }
    }
    t.true(written > 0)
    t.deepEqual(await hiddenPosts(pair), before)
  })
