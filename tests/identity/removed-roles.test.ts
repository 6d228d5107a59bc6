import test from 'ava'
import { compileApp } from '../../core/app/compile-app.ts'
import { type PrepareOptions, prepareDatabase } from '../../core/app/prepare-database.ts'
import type { FileStorage } from '../../core/media/storage/file-storage.ts'
import { migrate } from '../../core/migrate/migrate.ts'
import { temporaryFolder } from '../harness/folder.ts'
import { openTestDatabase } from '../harness/test-database.ts'

test('a start refuses a removed role that users have before it migrates anything', async t => {
  const database = await openTestDatabase(t)
  const folder = temporaryFolder()
  t.teardown(folder.remove)
  const compiled = async (more: string) => {
    folder.write('project.yaml', `name: Roles\n${more}`)
    const blueprint = await compileApp(folder.path, { DATABASE_URL: 'embedded' })
    if (!blueprint.ok) throw new Error(blueprint.reasons.map(({ message }) => message).join('\n'))
    return blueprint.value
  }
  const run = (text: string) => database.run({ text, values: [] })
  const before = await compiled('roles: { editor: {} }')
  t.true((await migrate(database, before.storage.tables)).ok)
  const stamps = 'document_id, created_at, updated_at, published_at'
  await run(
    `INSERT INTO plinth_roles (${stamps}, name, type) VALUES ('r', now(), now(), now(), 'E', 'editor')`,
  )
  await run(
    `INSERT INTO plinth_users (${stamps}, username, email, role_key) SELECT 'u', now(), now(), now(), 'ann', 'ann@example.org', id FROM plinth_roles`,
  )
  const after = await compiled('contentTypes: { book: { attributes: { title: string } } }')
  const options = { unwatched: database, identity: { database } } as PrepareOptions
  const prepared = await prepareDatabase(after, options, {} as FileStorage)
  const message = 'role `editor` is no longer in the project, but 1 user has it: give them another one first'
  t.deepEqual(prepared, { ok: false, reasons: [{ kind: 'other', message }] })
  t.deepEqual((await run(`SELECT to_regclass('books') IS NULL`)).rows, [[true]])
})
