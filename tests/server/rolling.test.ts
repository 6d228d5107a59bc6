import { execFile } from 'node:child_process'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import test from 'ava'
import { temporaryFolder } from '../harness/folder.ts'
import { PLINTH } from '../harness/program.ts'
import { type Server, startServer } from '../harness/server.ts'
import { freshDatabase } from '../harness/test-database.ts'

// Two versions of a project over one database, behind something that balances.

const root = resolve(import.meta.dirname, '..', '..')

const project = (types: string) => `name: Rolling
server: { host: "\${HOST:-127.0.0.1}", port: "\${PORT:-1393}" }
database: { url: "\${DATABASE_URL:-embedded}", pool: { max: 4 } }
auth: { jwtSecret: 0123456789-of-a-secret-for-a-test }
contentTypes:${types}
roles: { public: { permissions: { note: [find, findOne, create, update], tag: [find, create] } } }
`

const FIRST = project(`
  tag: { attributes: { name: { type: string, required: true } } }
  note:
    draftAndPublish: true
    attributes:
      text: { type: string, required: true }
      kind: { type: enumeration, enum: [a, b] }
      old: string
`)

/** New type, relation, index, required attributes, a value more, an attribute less, and one that is to be unique. */
const SECOND = project(`
  shelf: { attributes: { name: string } }
  tag:
    attributes:
      name: { type: string, required: true, unique: true }
      size: { type: integer, required: true, backfill: 1 }
      notes: { type: relation, relation: manyToMany, target: note, mappedBy: tags }
  note:
    draftAndPublish: true
    indexes: [[text]]
    attributes:
      text: { type: string, required: true }
      kind: { type: enumeration, enum: [a, b, c] }
      stars: { type: integer, required: true, backfill: 3 }
      tags: { type: relation, relation: manyToMany, target: tag, inversedBy: notes }
`)

interface Client {
  readonly server: Server
  /** The attributes of a note in this version of the project. */
  readonly note: Readonly<Record<string, unknown>>
  readonly tag: Readonly<Record<string, unknown>>
}

/** Clients that read and write by turns; a balancer gives each request to one of those that serve then. */
function load(clients: number) {
  const serving = new Map<Client, Set<Promise<unknown>>>()
  const failures: string[] = []
  let [sent, acknowledged, isOver] = [0, 0, false]
  const balance = async <Value>(work: (one: Client) => Promise<Value>): Promise<Value> => {
    const all = [...serving]
    const [one, underWay] = all[sent++ % all.length] ?? []
    if (one === undefined) throw new Error('no server responds')
    const answer = work(one)
    const settled = answer.catch(() => undefined).finally(() => underWay?.delete(settled))
    underWay?.add(settled)
    return answer
  }
  const ask = (method: string, path: string, bodyOf?: (one: Client) => object) =>
    balance(async one => {
      const answer = await fetch(`${one.server.base}/api${path}`, {
        method,
        headers: { 'Content-Type': 'application/json' },
        ...(bodyOf && { body: JSON.stringify({ data: bodyOf(one) }) }),
        signal: AbortSignal.timeout(120_000),
      })
      const text = await answer.text()
      if (!answer.ok) throw new Error(`${answer.status} ${method} ${path} ${text.slice(0, 300)}`)
      if (bodyOf) acknowledged++
      return JSON.parse(text) as { data: { documentId: string } }
    })
  const turn = async (number: number) => {
    const { data } = await ask('POST', '/notes', ({ note }) => ({ text: `n${number}`, kind: 'a', ...note }))
    await ask('GET', '/notes?sort=text&pagination[pageSize]=3')
    await ask('POST', '/tags', ({ tag }) => ({ name: `t${number}`, ...tag }))
    await ask('PUT', `/notes/${data.documentId}`, () => ({ text: 'x', kind: 'b' }))
  }
  const client = async (first: number) => {
    for (let number = first; !isOver; number += clients)
      await turn(number).catch((error: Error) => failures.push(`${error.message} ${String(error.cause)}`))
  }
  let all: Promise<unknown> = Promise.resolve()
  return {
    failures,
    acknowledged: () => acknowledged,
    add(one: Client) {
      serving.set(one, new Set())
      if (serving.size === 1 && sent === 0)
        all = Promise.all(Array.from({ length: clients }, (_, number) => client(number)))
    },
    /** Gives it no more, and waits for what it has to answer. */
    async drain(one: Client) {
      const underWay = serving.get(one) ?? []
      serving.delete(one)
      await Promise.all(underWay)
    },
    async stop() {
      isOver = true
      await all
    },
  }
}

test('a rolling update under load loses no request, and contract steps run after the old version ended', async t => {
  const database = await freshDatabase()
  t.teardown(database.drop)
  const environment = { NODE_ENV: 'production', DATABASE_URL: database.url }
  const start = async (file: string) => {
    const folder = temporaryFolder()
    t.teardown(folder.remove)
    folder.write('project.yaml', file)
    const server = await startServer({ project: folder.path, environment })
    t.teardown(() => server.stop())
    return server
  }
  const second = temporaryFolder()
  t.teardown(second.remove)
  second.write('project.yaml', SECOND)
  const plinth = async (...words: readonly string[]) => {
    const args = [...PLINTH, ...words, second.path]
    const run = promisify(execFile)(process.execPath, args, {
      cwd: root,
      env: { ...process.env, ...environment },
    })
    return (await run).stdout
  }

  const clients = load(6)
  t.teardown(clients.stop)
  const busy = async (writes: number) => {
    const from = clients.acknowledged()
    for (let tries = 0; clients.acknowledged() < from + writes && tries < 400; tries++)
      await new Promise(done => setTimeout(done, 25))
    t.true(clients.acknowledged() >= from + writes, clients.failures.slice(0, 3).join('\n'))
  }
  const end = async (one: Client) => {
    await clients.drain(one)
    t.is(await one.server.stop(), 0)
  }
  const older: Client = { server: await start(FIRST), note: { old: 'x' }, tag: {} }
  clients.add(older)
  await busy(20)
  t.regex(await plinth('migrate', '--expand'), /create table "shelves"/)
  await busy(20)
  const newer: Client = { server: await start(SECOND), note: { stars: 4, kind: 'c' }, tag: { size: 2 } }
  clients.add(newer)
  await busy(60)
  await end(older)
  await busy(20)
  await clients.stop()
  t.deepEqual(clients.failures.slice(0, 5), [])

  t.regex(await plinth('migrate', '--allow-destructive'), /add unique index[\s\S]*drop column "old"/)
  t.is((await newer.server.get('/api/notes?filters[stars]=3&fields=stars')).status, 200)
})
