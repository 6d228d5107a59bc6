import test, { type ExecutionContext } from 'ava'
import { temporaryFolder } from '../harness/folder.ts'
import { type Server, startServer } from '../harness/server.ts'
import { freshDatabase, testServer } from '../harness/test-database.ts'
import { assertNoOrphans, compare, type Place, reportedBy } from './kill-findings.ts'
import { makePeople, PROJECT, writeUntilGone } from './kill-writers.ts'

const start = ({ folder, url }: Place): Promise<Server> =>
  startServer({ project: folder.path, environment: { DATABASE_URL: url } })

interface Load {
  readonly clients: number
  readonly writes: number
}

async function killAmid(t: ExecutionContext, place: Place, { clients, writes }: Load): Promise<void> {
  const server = await start(place)
  const people = await makePeople(server)
  const onWrite = (count: number) => {
    if (count === Math.floor(writes / 2)) process.kill(server.pid, 'SIGKILL')
  }
  const writers = await writeUntilGone(clients, writes, { server, people, onWrite })
  t.is(await server.stop(), null, 'it did not end by itself')
  t.true(writers.count < writes && writers.doubtful.length > 0, 'it was killed amid writes')
  const again = await start(place)
  const after = await reportedBy(t, again, people)
  compare(t, after, writers)
  const rest = await writeUntilGone(clients, writes - writers.count, {
    server: again,
    people,
    onWrite: () => {},
  })
  t.deepEqual(rest.doubtful, [])
  const whole = await reportedBy(t, again, people)
  t.is(whole.size, after.size + rest.acknowledged.size)
  t.is(await again.stop(), 0)
  await assertNoOrphans(t, place)
}

const [where, load] = testServer()
  ? (['PostgreSQL', { clients: 8, writes: 1_000 }] as const)
  : (['embedded database', { clients: 4, writes: 200 }] as const)

test(`a server that is killed during writes keeps every acknowledged write, and no partial document (${where})`, async t => {
  const folder = temporaryFolder()
  folder.write('project.yaml', PROJECT)
  t.teardown(() => folder.remove())
  const database = await freshDatabase()
  t.teardown(() => database.drop())
  await killAmid(t, { folder, url: database.url }, load)
})
