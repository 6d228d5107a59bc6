import test, { type ExecutionContext } from 'ava'
import type { Blueprint } from '../../core/app/compile-app.ts'
import { compileApp } from '../../core/app/compile-app.ts'
import { type PrepareOptions, prepareDatabase } from '../../core/app/prepare-database.ts'
import { refuseAssignedRoles } from '../../core/identity/sync-declared-rows.ts'
import type { FileStorage } from '../../core/media/storage/file-storage.ts'
import { migrate } from '../../core/migrate/migrate.ts'
import type { Stage } from '../../core/migrate/migration-options.ts'
import { planMigration } from '../../core/migrate/plan-migration.ts'
import { openTwoApps, type Site } from '../cache/two-apps.ts'
import { temporaryFolder } from '../harness/folder.ts'
import { openTestDatabase } from '../harness/test-database.ts'

const MESSAGE =
  'role `editor` is no longer in the project, but 1 user has it: put it back (another `name` with the same key renames it), or give them another one first, with the version that has both: `plinth user list --role editor`, `plinth user role`'

const REFUSED = [{ kind: 'refusal', code: 'assigned-role', table: 'plinth_roles', message: MESSAGE }] as const

const BOOKS = 'contentTypes: { book: { attributes: { title: string } } }'

const REASSIGN = "UPDATE plinth_users SET role_key = (SELECT id FROM plinth_roles WHERE type = 'author')"

/** A database with the roles author and editor; one user is an editor. */
async function opened(t: ExecutionContext) {
  const database = await openTestDatabase(t)
  const folder = temporaryFolder()
  t.teardown(folder.remove)
  const compiled = async (more: string): Promise<Blueprint> => {
    folder.write('project.yaml', `name: Roles\n${more}`)
    const blueprint = await compileApp(folder.path, { DATABASE_URL: 'embedded' })
    if (!blueprint.ok) throw new Error(blueprint.reasons.map(({ message }) => message).join('\n'))
    return blueprint.value
  }
  const run = async (text: string) => (await database.run({ text, values: [] })).rows
  const before = await compiled('roles: { author: {}, editor: {} }')
  t.true((await migrate(database, before.storage.tables)).ok)
  const stamps = 'document_id, created_at, updated_at, published_at'
  await run(
    `INSERT INTO plinth_roles (${stamps}, name, type) VALUES ('a', now(), now(), now(), 'A', 'author'), ('e', now(), now(), now(), 'E', 'editor')`,
  )
  await run(
    `INSERT INTO plinth_users (${stamps}, username, email, role_key) SELECT 'u', now(), now(), now(), 'ann', 'ann@example.org', id FROM plinth_roles WHERE type = 'editor'`,
  )
  const checked = ({ migrations: files, ...blueprint }: Blueprint) => ({
    files,
    checkRows: refuseAssignedRoles(blueprint.project.settings.roles, blueprint),
  })
  return {
    ...{ run, compiled, folder },
    start: (blueprint: Blueprint) => {
      const options = { unwatched: database, identity: { database } } as PrepareOptions
      return prepareDatabase(blueprint, options, {} as FileStorage)
    },
    plan: (blueprint: Blueprint, stage: 'expand' | 'all' = 'all') =>
      planMigration(database, blueprint.storage.tables, { ...checked(blueprint), stage }),
    migrate: (blueprint: Blueprint, stage: Stage = 'all') =>
      migrate(database, blueprint.storage.tables, { ...checked(blueprint), stage }),
    hasBooks: async () => (await run(`SELECT to_regclass('books') IS NOT NULL`))[0]?.[0],
  }
}

test('a start refuses a removed role that users have before it migrates anything', async t => {
  const site = await opened(t)
  const after = await site.compiled(`roles: { author: {} }\n${BOOKS}`)
  t.deepEqual(await site.start(after), { ok: false, reasons: [{ kind: 'schema', refusals: REFUSED }] })
  t.is(await site.hasBooks(), false)
})

test('a removed role that users have refuses the plan and the migration of each stage', async t => {
  const site = await opened(t)
  const after = await site.compiled(`roles: { author: {} }\n${BOOKS}`)
  for (const stage of ['expand', 'all'] as const) {
    t.deepEqual((await site.plan(after, stage)).refusals, REFUSED, stage)
    t.deepEqual(await site.migrate(after, stage), { ok: false, reasons: REFUSED }, stage)
  }
  t.is(await site.hasBooks(), false)
  await site.run(REASSIGN)
  t.deepEqual((await site.plan(after)).refusals, [])
  t.true((await site.migrate(after)).ok)
})

test('a role that users have is renamed by its name, and one without users can be removed', async t => {
  const site = await opened(t)
  const after = await site.compiled('roles: { editor: { name: Writers } }')
  t.deepEqual((await site.plan(after)).refusals, [])
})

test('a plan for a new database has no users to ask for', async t => {
  const database = await openTestDatabase(t)
  const folder = temporaryFolder()
  t.teardown(folder.remove)
  folder.write('project.yaml', 'name: Roles')
  const compiled = await compileApp(folder.path, { DATABASE_URL: 'embedded' })
  if (!compiled.ok) throw new Error('the project is good')
  const checkRows = refuseAssignedRoles(compiled.value.project.settings.roles, compiled.value)
  t.deepEqual((await planMigration(database, compiled.value.storage.tables, { checkRows })).refusals, [])
})

for (const moment of ['before', 'after'] as const)
  test(`a file of migrations/ that runs ${moment} may give the users another role`, async t => {
    const site = await opened(t)
    site.folder.write(`migrations/2026-01-01.${moment}.sql`, REASSIGN)
    const after = await site.compiled(`roles: { author: {} }\n${BOOKS}`)
    t.deepEqual((await site.plan(after)).refusals, [])
    // A new version could start after an expansion, but the file runs with the rest.
    const expanded = moment === 'before' ? [] : REFUSED
    t.deepEqual((await site.plan(after, 'expand')).refusals, expanded)
    t.true((await site.migrate(after)).ok)
    t.is(await site.hasBooks(), true)
  })

test('files of migrations/ that leave users their role do not excuse it', async t => {
  const site = await opened(t)
  site.folder.write('migrations/2026-01-01.after.sql', 'SELECT 1')
  const after = await site.compiled(`roles: { author: {} }\n${BOOKS}`)
  t.deepEqual(await site.start(after), { ok: false, reasons: [{ kind: 'schema', refusals: REFUSED }] })
  t.is(await site.hasBooks(), false)
  const before = await site.compiled('roles: { author: {}, editor: {} }')
  t.true((await site.migrate(before)).ok)
  const again = await site.compiled(`roles: { author: {} }\n${BOOKS}`)
  t.deepEqual(await site.start(again), { ok: false, reasons: [{ kind: 'schema', refusals: REFUSED }] })
  t.is(await site.hasBooks(), false)
})

test('during a rolling deploy, users of a role that a process does not know may do what everyone may', async t => {
  const project = (roles: string, registered: string) => `
name: Roles
auth: { jwtSecret: a-secret-of-more-than-thirty-two-letters, register: { role: ${registered} } }
roles: { public: {}, authenticated: { permissions: { book: [find] } }, ${roles} }
${BOOKS}
`
  const { cached: older, open, close } = await openTwoApps(project('editor: {}', 'editor'))
  t.teardown(close)
  const newer = await open(project('narrow: {}', 'narrow'))
  const register = (site: Site, username: string) =>
    site.ask('POST', '/api/auth/local/register', {
      body: { username, email: `${username}@example.org`, password: 'a-long-password' },
    })
  const registered = await register(newer, 'anna')
  t.is(registered.status, 200)
  const { jwt } = JSON.parse(registered.text)
  for (const site of [newer, older]) t.is((await site.ask('GET', '/api/books', { as: jwt })).status, 403)
  // The new version removed the role of registration: a user without a role would be an authenticated one.
  const refused = await register(older, 'berta')
  t.is(refused.status, 503)
  t.notRegex(refused.text, /editor/)
})
