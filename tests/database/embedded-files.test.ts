import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import fs, {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import test, { type ExecutionContext } from 'ava'
import { openDatabase } from '../../core/database/open-database.ts'
import type { DatabaseObservation } from '../../core/database/open-options.ts'
import { DATABASE_SETTINGS } from '../harness/database-settings.ts'
import { snapshot } from '../harness/embedded-files.ts'
import { program } from '../harness/program.ts'
import { replaceFunctions } from '../harness/replace-functions.ts'
import { until } from '../harness/until.ts'

function project(t: ExecutionContext): string {
  const root = mkdtempSync(join(tmpdir(), 'plinth-embedded-'))
  t.teardown(() => rmSync(root, { recursive: true, force: true }))
  return root
}

async function open(t: ExecutionContext, root: string) {
  const observations: DatabaseObservation[] = []
  const embedded = { snapshot: await snapshot() }
  const opened = await openDatabase(DATABASE_SETTINGS, {
    root,
    observe: seen => void observations.push(seen),
    embedded,
  })
  if (opened.ok) t.teardown(() => opened.value.close())
  return { opened, observations }
}

async function opened(t: ExecutionContext, root: string) {
  const answer = await open(t, root)
  if (!answer.opened.ok) throw new Error(answer.opened.reasons[0]?.message)
  return { database: answer.opened.value, observations: answer.observations }
}

async function refused(t: ExecutionContext, root: string) {
  const { opened } = await open(t, root)
  return opened.ok ? undefined : opened.reasons[0]
}

interface Writer {
  readonly child: ChildProcess
  readonly reported: readonly string[]
  /** Resolves after this many printed lines. */
  reaches(count: number): Promise<void>
}

const WRITER = program('tests/database/fixtures/write-and-acknowledge.ts')

function startWriter(t: ExecutionContext, root: string): Writer {
  const child = spawn(process.execPath, [...WRITER, root], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.teardown(() => child.kill('SIGKILL'))
  const reported: string[] = []
  const lines = createInterface({ input: child.stdout })
  lines.on('line', line => reported.push(line))
  const reaches = async (count: number) => {
    while (reported.length < count) await once(lines, 'line')
  }
  return { child, reported, reaches }
}

async function kill({ child }: Writer): Promise<void> {
  child.kill('SIGKILL')
  await once(child, 'close')
}

test.serial('no acknowledged write is lost when the process is killed', async t => {
  const root = project(t)
  await (await opened(t, root)).database.close()
  for (const count of [50, 300]) {
    const writer = startWriter(t, root)
    await writer.reaches(count)
    await kill(writer)
    const { database, observations } = await opened(t, root)
    const last = Number(writer.reported.filter(line => /^\d+$/.test(line)).at(-1))
    const { rows } = await database.run({
      text: 'SELECT count(*) FROM plate WHERE id <= $1 AND length(note) = 500',
      values: [last],
    })
    const { rows: gaps } = await database.run({
      text: 'SELECT max(id) - count(*) FROM plate WHERE id <= $1',
      values: [last],
    })
    t.is(Number(rows[0]?.[0]) + Number(gaps[0]?.[0]), last)
    t.true(Number(rows[0]?.[0]) >= count - 1)
    t.like(observations[0], { event: 'database.recovered', pid: writer.child.pid })
    await database.close()
  }
})

test.serial('a second process is refused with the owner of the folder, and changes nothing', async t => {
  const root = project(t)
  await (await opened(t, root)).database.close()
  const writer = startWriter(t, root)
  await writer.reaches(2)
  const reason = await refused(t, root)
  t.is(reason?.kind, 'locked')
  t.regex(reason?.message ?? '', new RegExp(`in use by process ${writer.child.pid} `))
  await writer.reaches(writer.reported.length + 20)
  await kill(writer)
})

test.serial('a process cannot open a folder twice at once, but can reopen it', async t => {
  const root = project(t)
  const first = await opened(t, root)
  t.is((await refused(t, root))?.kind, 'locked')
  await first.database.run({ text: 'CREATE TABLE plate AS SELECT 7 AS id', values: [] })
  await first.database.close()
  t.deepEqual(readdirSync(join(root, '.plinth')), ['database'])
  const second = await opened(t, root)
  t.deepEqual((await second.database.run({ text: 'SELECT id FROM plate', values: [] })).rows, [[7]])
  t.false(second.observations.some(({ event }) => event === 'database.recovered'))
})

test.serial('a lock of a dead process is taken over, even if its process id is in use again', async t => {
  const root = project(t)
  const folder = join(root, '.plinth')
  mkdirSync(folder)
  const reused = { pid: process.pid, started: 'long ago', host: hostname() }
  for (const stale of [JSON.stringify(reused), JSON.stringify({ ...reused, pid: 2 ** 30 }), 'half a li']) {
    writeFileSync(join(folder, 'database.lock'), stale)
    const { database } = await opened(t, root)
    t.is(JSON.parse(readFileSync(join(folder, 'database.lock'), 'utf8')).pid, process.pid)
    await database.close()
  }
})

test.serial('a lock of a zombie process is taken over', async t => {
  const root = project(t)
  mkdirSync(join(root, '.plinth'))
  const parent = spawn('sh', ['-c', 'sleep 0.1 & echo $!; exec sleep 60'])
  t.teardown(() => parent.kill('SIGKILL'))
  const [line] = await once(parent.stdout, 'data')
  const zombie = { pid: Number(String(line)), started: null, host: hostname() }
  const stateOf = (pid: number) =>
    execFileSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' })
  await until('the process is a zombie', () => stateOf(zombie.pid).startsWith('Z'))
  writeFileSync(join(root, '.plinth', 'database.lock'), JSON.stringify(zombie))
  t.notThrows(() => process.kill(zombie.pid, 0))
  t.true((await open(t, root)).opened.ok)
})

test.serial('a lock of another machine is valid while its file is recent', async t => {
  const root = project(t)
  mkdirSync(join(root, '.plinth'))
  const lock = join(root, '.plinth', 'database.lock')
  writeFileSync(lock, JSON.stringify({ pid: process.pid, started: 'now', host: 'another-machine' }))
  t.regex((await refused(t, root))?.message ?? '', /on another-machine/)
})

test.serial('damaged files are refused with a recovery hint, and not changed', async t => {
  const root = project(t)
  const { database } = await opened(t, root)
  await database.close()
  const control = join(root, '.plinth/database/global/pg_control')
  truncateSync(control, 10)
  for (const attempt of [1, 2]) {
    const reason = await refused(t, root)
    t.is(reason?.kind, 'damaged', `attempt ${attempt}`)
    t.regex(reason?.message ?? '', /pg_control.*Nothing was deleted\. Put back a copy/)
  }
  t.is(readFileSync(control).length, 10)
  rmSync(join(root, '.plinth/database/PG_VERSION'))
  t.regex((await refused(t, root))?.message ?? '', /PG_VERSION is missing/)
  t.true(existsSync(join(root, '.plinth/database/base')))
})

test.serial('a full disk at a start is no reason to replace the files', async t => {
  const root = project(t)
  await (await opened(t, root)).database.close()
  const { openSync } = fs
  const restore = replaceFunctions(t, fs, {
    openSync(path, ...options) {
      if (String(path).endsWith('postmaster.pid')) throw Object.assign(new Error('full'), { code: 'ENOSPC' })
      return openSync(path, ...options)
    },
  })
  const reason = await refused(t, root)
  restore()
  t.is(reason?.kind, 'folder')
  t.regex(
    reason?.message ?? '',
    /cannot be opened \(.*no space left on device\).*Start again when that is solved$/i,
  )
  t.true((await (await opened(t, root)).database.ping()).ok)
})

test.serial('a first start that was killed is repeated from the beginning', async t => {
  const root = project(t)
  const folder = join(root, '.plinth')
  mkdirSync(join(folder, 'database', 'base'), { recursive: true })
  writeFileSync(join(folder, 'database.creating'), '')
  const { database } = await opened(t, root)
  t.true((await database.ping()).ok)
  t.false(existsSync(join(folder, 'database.creating')))
})

test.serial('an unusable folder is reported by name', async t => {
  const root = project(t)
  writeFileSync(join(root, '.plinth'), 'a file')
  const reason = await refused(t, root)
  t.is(reason?.kind, 'folder')
  t.regex(reason?.message ?? '', /\.plinth/)
})

test.serial('a write is on disk before it is acknowledged; a read does not sync the disk', async t => {
  const { database } = await opened(t, project(t))
  t.deepEqual((await database.run({ text: 'SHOW fsync', values: [] })).rows, [['on']])
  await database.run({ text: 'CREATE TABLE plate (id int)', values: [] })
  const own = fs.fdatasyncSync
  let count = 0
  replaceFunctions(t, fs, {
    fdatasyncSync: file => {
      count++
      own(file)
    },
  })
  const during = async (work: () => Promise<unknown>) => {
    const before = count
    await work()
    return count - before
  }
  const insert = { text: 'INSERT INTO plate VALUES (1)', values: [] }
  t.is(await during(() => database.run({ text: 'SELECT count(*) FROM plate', values: [] })), 0)
  t.true((await during(() => database.run(insert))) >= 1)
  t.true((await during(() => database.transaction(transaction => transaction.run(insert)))) >= 1)
  t.true((await during(() => database.run({ text: 'CHECKPOINT', values: [] }))) >= 1)
})

test.serial('a database that its disk stopped goes on when the disk works again', async t => {
  const root = project(t)
  const { database, observations } = await opened(t, root)
  const insert = (id: number) => database.run({ text: `INSERT INTO plate VALUES (${id})`, values: [] })
  await database.run({ text: 'CREATE TABLE plate (id int)', values: [] })
  await insert(1)
  const restore = replaceFunctions(t, fs, {
    fdatasyncSync: () => {
      throw new Error('no space left on device')
    },
  })
  const session = await database.openSession()
  t.teardown(() => session.close())
  await t.throwsAsync(insert(2))
  t.regex(JSON.stringify(observations), /the embedded database stopped: could not fsync file/)
  await t.throwsAsync(insert(3))
  await t.throwsAsync(session.run({ text: 'SELECT 1', values: [] }))
  restore()
  const isWritten = () =>
    insert(4).then(
      () => true,
      () => false,
    )
  await until('the database works again', isWritten)
  const idsOf = async (from: typeof database) =>
    (await from.run({ text: 'SELECT id FROM plate WHERE id <> 2 ORDER BY id', values: [] })).rows
  t.deepEqual(await idsOf(database), [[1], [4]])
  await database.close()
  t.deepEqual(await idsOf((await opened(t, root)).database), [[1], [4]])
})

test.serial(
  'a database that is closed while it starts again has left its files when others may open them',
  async t => {
    const root = project(t)
    const { database } = await opened(t, root)
    const restore = replaceFunctions(t, fs, {
      fdatasyncSync: () => {
        throw new Error('no space left on device')
      },
    })
    await t.throwsAsync(database.run({ text: 'CREATE TABLE plate (id int)', values: [] }))
    restore()
    const files = join(root, '.plinth', 'database')
    const isStarting = new Promise<void>(resolve => {
      const { existsSync } = fs
      replaceFunctions(t, fs, {
        existsSync: path => {
          if (path === files) resolve()
          return existsSync(path)
        },
      })
    })
    const lost = t.throwsAsync(database.run({ text: 'SELECT 1', values: [] }))
    await isStarting
    database.abort()
    await database.close()
    // PostgreSQL removes it when it ends.
    t.false(existsSync(join(files, 'postmaster.pid')))
    await lost
  },
)
