import { Readable } from 'node:stream'
import test, { type ExecutionContext } from 'ava'
import pg from 'pg'
import sharp from 'sharp'
import { createTestApp } from '../../core/testing.ts'
import { temporaryFolder } from '../harness/folder.ts'
import { createDatabase, testServer } from '../harness/test-database.ts'
import { until } from '../harness/until.ts'

// Two replacements of one file, which store their bytes under the same keys.

const TOKEN = 'full-access-for-the-tests-of-replaced-files'

const PROJECT = `name: Replaced
rest: { responseFormat: v4 }
upload: { provider: memory }
contentTypes: { note: { attributes: { text: string, enclosures: { type: media, multiple: true } } } }
apiTokens: { full: { type: full-access, secret: ${TOKEN} } }
`

const EXTENSION = `import { defineExtension } from 'plinth'
export default defineExtension({
  register({ media }) {
    media.registerStorage('memory', { open: () => globalThis.replacedFiles.provider })
  },
})
`

type Method = 'put' | 'get' | 'delete'

/** Runs before a call of the storage is answered; `bytes`: what is stored or read. */
type Step = (method: Method, bytes: Buffer | null) => Promise<void> | void

function openMemory() {
  const stored = new Map<string, Buffer>()
  let step: Step = () => {}
  const provider = {
    async put(key: string, file: { stream(): Readable }) {
      const bytes = Buffer.concat(await file.stream().toArray())
      await step('put', bytes)
      stored.set(key, bytes)
    },
    async get(key: string) {
      const bytes = stored.get(key) ?? null
      await step('get', bytes)
      return bytes && Readable.from([bytes])
    },
    stat: async (key: string) => (stored.has(key) ? { size: stored.get(key)?.length ?? 0 } : null),
    async delete(key: string) {
      await step('delete', null)
      stored.delete(key)
    },
  }
  return {
    stored,
    provider,
    onStep(next: Step) {
      step = next
    },
  }
}

interface FileRecord {
  readonly id: number
  readonly hash: string
  readonly ext: string
  readonly formats: Readonly<Record<string, { readonly hash: string; readonly ext: string }>> | null
}

async function open(t: ExecutionContext) {
  const memory = openMemory()
  Object.assign(globalThis, { replacedFiles: memory })
  const folder = temporaryFolder()
  t.teardown(folder.remove)
  folder.write('project.yaml', PROJECT)
  folder.write('extensions/memory.mjs', EXTENSION)
  const url = await createDatabase(t, testServer() ?? '')
  const app = await createTestApp({ project: folder.path, database: url })
  t.teardown(() => app.close())
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  t.teardown(() => client.end())
  const send = async (path: string, name: string, bytes: string | Buffer) => {
    const form = new FormData()
    form.append('files', new Blob([new Uint8Array(Buffer.from(bytes))]), name)
    const { status, body } = await app.request('POST', path, { body: form, token: TOKEN })
    return { status, file: [body].flat()[0] as FileRecord }
  }
  return {
    ...memory,
    app,
    client,
    upload: async (name: string, bytes: string | Buffer) => (await send('/api/upload', name, bytes)).file,
    replace: ({ id }: FileRecord, name: string, bytes: string | Buffer) =>
      send(`/api/upload?id=${id}`, name, bytes),
    /** Resolves once the request has ended, or waits for a lock. */
    async endedOrWaiting(request: Promise<unknown>) {
      let isEnded = false
      const end = () => {
        isEnded = true
      }
      request.then(end, end)
      await until('the request ends or waits', async () => {
        const { rows } = await client.query(
          `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
        )
        return isEnded || rows.length > 0
      })
    },
  }
}

/** A step that is held until `release`; `reached` resolves when it is there. */
function hold() {
  let [reach, release] = [() => {}, () => {}]
  const reached = new Promise<void>(resolve => {
    reach = resolve
  })
  const released = new Promise<void>(resolve => {
    release = resolve
  })
  let isFirst = true
  const first = async () => {
    if (!isFirst) return
    isFirst = false
    reach()
    await released
  }
  return { first, reached, release }
}

const picture = (width: number, height: number) =>
  sharp({ create: { width, height, channels: 3, background: 'red' } })
    .png()
    .toBuffer()

test.serial(
  'smaller pictures that a replacement no longer has are kept if the next one has them',
  async t => {
    const { upload, replace, stored, onStep, endedOrWaiting } = await open(t)
    const file = await upload('large.png', await picture(600, 400))
    t.true(stored.size > 1)
    const { first, reached, release } = hold()
    onStep(method => (method === 'delete' ? first() : undefined))
    const small = replace(file, 'small.png', await picture(100, 100))
    await reached
    const large = replace(file, 'large.png', await picture(600, 400))
    await endedOrWaiting(large)
    release()
    t.is((await small).status, 200)
    const { status, file: last } = await large
    t.is(status, 200)
    for (const { hash, ext } of Object.values(last.formats ?? {})) t.true(stored.has(`${hash}${ext}`), hash)
  },
)

test.serial('a replacement that fails restores what the one before it has stored', async t => {
  const { upload, replace, stored, onStep, endedOrWaiting } = await open(t)
  const file = await upload('old.txt', 'old')
  const { first, reached, release } = hold()
  onStep(async (method, bytes) => {
    if (method === 'get') await first()
    if (method === 'put' && bytes?.toString() === 'broken') throw new Error('the disk is full')
  })
  const broken = replace(file, 'broken.txt', 'broken')
  await reached
  const other = replace(file, 'other.txt', 'another')
  await endedOrWaiting(other)
  release()
  t.is((await broken).status, 500)
  t.is((await other).status, 200)
  t.is(stored.get(`${file.hash}${file.ext}`)?.toString(), 'another')
})

test.serial('a replacement whose commit fails does not undo the one that follows', async t => {
  const { upload, replace, stored, onStep, endedOrWaiting, client } = await open(t)
  const file = await upload('old.txt', 'old')
  await client.query(`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN IF NEW.name = 'refused.txt' THEN RAISE EXCEPTION 'refused'; END IF; RETURN NULL; END $$`)
  await client.query(
    'CREATE CONSTRAINT TRIGGER refuse AFTER UPDATE ON plinth_files DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION refuse()',
  )
  const key = `${file.hash}${file.ext}`
  t.is((await replace(file, 'refused.txt', 'refused')).status, 500)
  t.is(stored.get(key)?.toString(), 'old')
  const { first, reached, release } = hold()
  let other: ReturnType<typeof replace> | undefined
  onStep(async (method, bytes) => {
    if (method === 'put' && bytes?.toString() === 'refused') await first()
    // Only if the old bytes are restored, which would undo the other replacement.
    if (method === 'put' && bytes?.toString() === 'old' && other) await endedOrWaiting(other)
  })
  const refused = replace(file, 'refused.txt', 'refused')
  await reached
  other = replace(file, 'other.txt', 'another')
  await endedOrWaiting(other)
  release()
  t.is((await refused).status, 500)
  t.is((await other).status, 200)
  t.is(stored.get(key)?.toString(), 'another')
})

/** A trigger function that reports a deadlock at every other call. */
async function createDeadlock(client: pg.Client): Promise<void> {
  await client.query('CREATE SEQUENCE tries')
  await client.query(`CREATE FUNCTION deadlock() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN IF nextval('tries') % 2 = 1 THEN RAISE EXCEPTION 'deadlock' USING ERRCODE = '40P01'; END IF; RETURN coalesce(NEW, OLD); END $$`)
}

test.serial('an upload, a change and a deletion are repeated after a deadlock', async t => {
  const { upload, app, client, stored } = await open(t)
  await createDeadlock(client)
  await client.query(
    'CREATE TRIGGER deadlock BEFORE INSERT OR UPDATE OR DELETE ON plinth_files FOR EACH ROW EXECUTE FUNCTION deadlock()',
  )
  const { id } = await upload('one.txt', 'one')
  const found = async () => (await client.query('SELECT caption FROM plinth_files')).rows
  t.deepEqual(await found(), [{ caption: null }])
  const body = new FormData()
  body.append('fileInfo', '{"caption":"changed"}')
  t.is((await app.request('POST', `/api/upload?id=${id}`, { body, token: TOKEN })).status, 200)
  t.deepEqual(await found(), [{ caption: 'changed' }])
  t.is((await app.request('DELETE', `/api/upload/files/${id}`, { token: TOKEN })).status, 200)
  t.deepEqual(await found(), [])
  t.is(stored.size, 0)
  t.is(Number((await client.query('SELECT last_value FROM tries')).rows[0].last_value), 6)
})

test.serial('a change of a file that is deleted before it is answered is 404', async t => {
  const { upload, app, client } = await open(t)
  const { id } = await upload('one.txt', 'one')
  await client.query(
    `CREATE FUNCTION remove() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN DELETE FROM plinth_files WHERE id = NEW.id; RETURN NULL; END $$`,
  )
  await client.query(
    'CREATE CONSTRAINT TRIGGER remove AFTER UPDATE ON plinth_files DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION remove()',
  )
  const body = new FormData()
  body.append('fileInfo', '{"caption":"changed"}')
  const { status } = await app.request('POST', `/api/upload?id=${id}`, { body, token: TOKEN })
  t.is(status, 404)
})

for (const [when, trigger] of [
  ['before its bytes are stored', 'TRIGGER deadlock BEFORE UPDATE ON plinth_files'],
  [
    'after its bytes were stored',
    'CONSTRAINT TRIGGER deadlock AFTER UPDATE ON plinth_files DEFERRABLE INITIALLY DEFERRED',
  ],
] as const)
  test.serial(`a replacement that loses a deadlock ${when} is repeated`, async t => {
    const { upload, replace, client, stored, onStep } = await open(t)
    const file = await upload('old.txt', 'old')
    await createDeadlock(client)
    await client.query(`CREATE ${trigger} FOR EACH ROW EXECUTE FUNCTION deadlock()`)
    const kept: (string | undefined)[] = []
    onStep((method, bytes) => {
      if (method === 'get') kept.push(bytes?.toString())
    })
    t.is((await replace(file, 'new.txt', 'new')).status, 200)
    t.deepEqual([...stored.values()].map(String), ['new'])
    // The second attempt keeps a copy of the bytes as they were before the first.
    t.true(kept.every(each => each === 'old'))
    t.deepEqual((await client.query('SELECT name FROM plinth_files')).rows, [{ name: 'new.txt' }])
    t.is(Number((await client.query('SELECT last_value FROM tries')).rows[0].last_value), 2)
  })

test.serial('a replacement whose locks fail to serialize repeats each of its transactions', async t => {
  const { upload, replace, client, stored } = await open(t)
  const file = await upload('large.png', await picture(600, 400))
  t.true(stored.size > 1)
  // A SELECT has no triggers: a view calls a function, which fails at every other lock of the record.
  await client.query('CREATE SEQUENCE tries')
  await client.query(`CREATE FUNCTION conflict() RETURNS boolean LANGUAGE plpgsql AS
    $$ BEGIN IF current_query() LIKE '%"id" = $1 FOR UPDATE' AND nextval('tries') % 2 = 1
      THEN RAISE EXCEPTION 'conflict' USING ERRCODE = '40001'; END IF; RETURN true; END $$`)
  await client.query('ALTER TABLE plinth_files RENAME TO stored_files')
  await client.query('CREATE VIEW plinth_files AS SELECT * FROM stored_files WHERE conflict()')
  t.is((await replace(file, 'small.png', await picture(100, 100))).status, 200)
  // Also the smaller pictures are removed, under a lock of their own.
  t.is(stored.size, 1)
  t.is(Number((await client.query('SELECT last_value FROM tries')).rows[0].last_value), 6)
})

test.serial('a form of Strapi 4 that loses a deadlock is repeated', async t => {
  const { app, client, stored } = await open(t)
  const send = async (method: string, path: string, data: object, name: string) => {
    const body = new FormData()
    body.append('data', JSON.stringify(data))
    body.append('files.enclosures', new Blob([name]), name)
    return app.request(method, path, { body, token: TOKEN })
  }
  const created = await send('POST', '/api/notes', { text: 'one' }, 'first.txt')
  t.is(created.status, 200)
  const { id } = (created.body as { data: { id: number } }).data
  await createDeadlock(client)
  // The deadlock is found at the end, after the document was written.
  await client.query(
    'CREATE CONSTRAINT TRIGGER deadlock AFTER UPDATE ON notes DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION deadlock()',
  )
  const changed = await send('PUT', `/api/notes/${id}?populate=enclosures`, { text: 'two' }, 'second.txt')
  t.is(changed.status, 200, JSON.stringify(changed.body))
  const { rows } = await client.query(
    `SELECT text, (SELECT string_agg(name, ' ' ORDER BY id) FROM plinth_files) AS files FROM notes`,
  )
  t.deepEqual(rows, [{ text: 'two', files: 'first.txt second.txt' }])
  t.deepEqual([...stored.values()].map(String).toSorted(), ['first.txt', 'second.txt'])
  t.is(Number((await client.query('SELECT last_value FROM tries')).rows[0].last_value), 2)
})
