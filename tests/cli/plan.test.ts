import { rmSync } from 'node:fs'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { runMigrate, runPlan, runRehearsal, runStatus } from '../../tools/cli/migrate.ts'
import { layEmbedded } from '../harness/embedded-files.ts'
import { temporaryFolder } from '../harness/folder.ts'
import { projectFolder } from '../harness/project-folder.ts'
import { runSql } from '../harness/run-sql.ts'
import { createDatabase, testServer } from '../harness/test-database.ts'

const project = (attributes: string) =>
  `name: Shop\ndatabase: { url: "\${DATABASE_URL:-embedded}" }\ncontentTypes: { book: { attributes: { ${attributes} } } }\n`

/** A project, and the options of a command on it that writes to `reported`. */
async function projectWithOptions(t: ExecutionContext) {
  const { folder, url } = await projectFolder(t)
  const reported: string[] = []
  const write = (text: string) => void reported.push(text)
  const options = {
    ...{ folder: folder.path, env: { DATABASE_URL: url }, paint: (_: string, text: string) => text },
    ...{ write, writeError: write, json: false, allowDestructive: true },
  }
  return { folder, url, reported, options }
}

test('users with a removed role refuse the plan and the migration', async t => {
  const { folder, url, reported, options } = await projectWithOptions(t)
  folder.write('project.yaml', project('title: string'))
  t.is(await runMigrate(options), 0)
  const stamps = 'document_id, created_at, updated_at, published_at'
  await runSql(
    folder.path,
    url,
    `WITH r AS (INSERT INTO plinth_roles (${stamps}, name, type) VALUES ('e', now(), now(), now(), 'E', 'editor') RETURNING id)
      INSERT INTO plinth_users (${stamps}, username, email, role_key) SELECT n, now(), now(), now(), n, n || '@example.org', id FROM r, (VALUES ('ann'), ('bob')) AS v (n)`,
  )
  folder.write('project.yaml', project('title: string, pages: integer'))
  const refused = /role `editor` is no longer in the project, but 2 users have it: put it back/
  for (const command of [() => runPlan({ ...options, form: 'text' }), runRehearsal, runMigrate]) {
    reported.length = 0
    t.is(await command(options), 1)
    t.regex(reported.join(''), refused)
  }
  folder.write('project.yaml', `${project('title: string, pages: integer')}roles: { editor: {} }\n`)
  t.is(await runMigrate(options), 0)
  // Nothing but the role differs.
  folder.write('project.yaml', project('title: string, pages: integer'))
  for (const command of [runRehearsal, runMigrate]) {
    reported.length = 0
    t.is(await command(options), 1)
    t.regex(reported.join(''), refused)
  }
})

test('faults in content/ and mails/, which the next start would refuse, refuse the plan and the migration', async t => {
  const { folder, reported, options } = await projectWithOptions(t)
  folder.write('project.yaml', project('title: string'))
  folder.write('content/books.yaml', '- { documentId: dune, title: Dune }\n')
  t.is(await runMigrate(options), 0)
  folder.write('project.yaml', project('name: { type: string, renamedFrom: title }'))
  folder.write('mails/hello.fr.md', '---\nsubject: Salut\n---\nSalut\n')
  for (const command of [() => runPlan({ ...options, form: 'text' }), runRehearsal, runMigrate]) {
    reported.length = 0
    t.is(await command(options), 1)
    t.regex(reported.join(''), /content[\\/]books\.yaml:1:23 unknown attribute `title` of `book`/)
    t.regex(reported.join(''), /mails[\\/]hello\.fr\.md/)
  }
  t.is(await runStatus(options), 0)
  folder.write('content/books.yaml', '- { documentId: dune, name: Dune }\n')
  rmSync(join(folder.path, 'mails'), { recursive: true })
  t.is(await runMigrate(options), 0)
})

test('an entry of content/ with a unique value of another document refuses the migration, which changes nothing', async t => {
  const { folder, url, reported, options } = await projectWithOptions(t)
  folder.write('project.yaml', project('title: string'))
  t.is(await runMigrate(options), 0)
  await runSql(
    folder.path,
    url,
    `INSERT INTO books (document_id, created_at, updated_at, published_at, title) VALUES ('b', now(), now(), now(), 'Dune')`,
  )
  folder.write('project.yaml', project('name: { type: string, unique: true, renamedFrom: title }'))
  folder.write('content/books.yaml', '- { documentId: dune, name: Dune }\n')
  reported.length = 0
  for (const expand of [false, true]) {
    if (expand) folder.write('project.yaml', project('title: { type: string, unique: true }, pages: integer'))
    if (expand) folder.write('content/books.yaml', '- { documentId: dune, title: Dune }\n')
    t.is(await runMigrate({ ...options, expand }), 1)
    t.regex(
      reported.splice(0).join(''),
      /Nothing was changed:\n {2}- \S*content[\\/]books\.yaml:1:\d+ `(name|title)` must be unique, and another document has `Dune` already/,
    )
  }
  folder.write('content/books.yaml', '- { documentId: b, title: Dune }\n')
  t.is(await runMigrate(options), 0)
  t.regex(reported.splice(0).join(''), /add column "pages"[\s\S]*add unique index "books__title__unique"/)
  folder.write('content/books.yaml', '- { documentId: c, title: Dune }\n')
  for (const command of [() => runPlan({ ...options, form: 'text' }), runRehearsal, runMigrate]) {
    t.is(await command(options), 1)
    t.regex(reported.splice(0).join(''), /content[\\/]books\.yaml:1:\d+ `title` must be unique/)
  }
})

test('a full disk refuses a migration with what PostgreSQL says, and changes nothing', async t => {
  const { folder, url, reported, options } = await projectWithOptions(t)
  folder.write('project.yaml', project('title: string'))
  t.is(await runMigrate(options), 0)
  const statements = [
    `CREATE FUNCTION fill() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN RAISE 'could not extend file' USING ERRCODE = 'disk_full'; END $$`,
    'CREATE TRIGGER full_disk BEFORE INSERT ON plinth_migrations FOR EACH ROW EXECUTE FUNCTION fill()',
  ]
  for (const statement of statements) await runSql(folder.path, url, statement)
  folder.write('project.yaml', project('title: string, pages: integer'))
  reported.length = 0
  t.is(await runMigrate(options), 1)
  t.regex(reported.join(''), /Nothing was changed:\n {2}- PostgreSQL refused a change: could not extend file/)
  await runSql(folder.path, url, 'DROP TRIGGER full_disk ON plinth_migrations')
  t.is(await runMigrate(options), 0)
})

test('a change is planned, refused, allowed and reported afterwards', async t => {
  const folder = temporaryFolder()
  t.teardown(() => folder.remove())
  const server = testServer()
  const url = server ? await createDatabase(t, server) : 'embedded'
  const reported: string[] = []
  const write = (text: string) => void reported.push(text)
  const shown = () => reported.splice(0).join('')
  const base = {
    folder: folder.path,
    env: { DATABASE_URL: url },
    paint: (_: string, text: string) => text,
    write,
    // environment.test.ts checks the line that names the database.
    writeError: (text: string) => void (text.startsWith('Database: ') || write(text)),
  }
  const migrating = { ...base, json: false, allowDestructive: false }

  folder.write('project.yaml', project('title: string, pages: integer'))
  t.is(await runPlan({ ...base, form: 'text' }), 2)
  t.regex(
    shown(),
    / {2}safe {2}expand {2}create table "books" \(content-type `book`\)\n[\s\S]*all safe: `plinth start`/,
  )
  t.is(await runStatus(migrating), 0)
  t.is(shown(), 'Nothing was done to this database yet.\n')
  if (!server) await layEmbedded(folder.path)
  t.is(await runMigrate(migrating), 0)
  t.regex(shown(), /^create table "books"/m)
  t.is(await runPlan({ ...base, form: 'text' }), 0)
  t.is(shown(), 'The database is as the project wants it: nothing to do.\n')

  await runSql(
    folder.path,
    url,
    `INSERT INTO books (document_id, created_at, updated_at, published_at, title, pages)
      VALUES ('a', now(), now(), now(), 'Dune', 412), ('b', now(), now(), now(), 'Dune', NULL)`,
  )

  folder.write('project.yaml', project('title: { type: string, unique: true }'))
  t.is(await runPlan({ ...base, form: 'text' }), 1)
  t.regex(shown(), / {2}refused {2}`title` of content-type `book` must be unique, but 2 rows share/)
  folder.write('project.yaml', project('title: string'))
  t.is(await runPlan({ ...base, form: 'json' }), 2)
  const planned = JSON.parse(shown())
  // Then the triggers are replaced, whose functions name the columns.
  const [drop, ...triggers] = planned.steps[0].statements
  t.true(triggers.some((text: string) => text.startsWith('CREATE TRIGGER "plinth_version_')))
  t.deepEqual(
    { ...planned, steps: [{ ...planned.steps[0], statements: [drop] }] },
    {
      weight: 'destructive',
      steps: [
        {
          weight: 'destructive',
          window: 'contract',
          summary: 'drop column "pages" of "books" (content-type `book`)',
          notes: ['loses values in 1 row'],
          statements: ['ALTER TABLE "public"."books" DROP COLUMN "pages"'],
        },
      ],
      refusals: [],
      left: [],
    },
  )
  t.is(await runPlan({ ...base, form: 'sql' }), 2)
  t.true(
    shown().startsWith(
      '-- destructive: drop column "pages" of "books" (content-type `book`): loses values in 1 row\n' +
        'ALTER TABLE "public"."books" DROP COLUMN "pages";\n',
    ),
  )
  t.is(await runMigrate(migrating), 1)
  t.regex(shown(), /^Nothing was changed:\n {2}- column "pages" of table "books"/)
  t.is(await runRehearsal({ ...migrating, allowDestructive: true }), 0)
  t.is(await runRehearsal(migrating), 1)
  t.regex(shown(), /`plinth migrate --allow-destructive` does this/)
  const expanding = { ...migrating, expand: true }
  t.is(await runRehearsal(expanding), 0)
  t.is(shown(), 'No step can be applied before the running version has ended.\n')
  t.is(await runMigrate(expanding), 0)
  t.is(shown(), 'The database was as the project wants it: nothing to do.\n')
  t.is(await runMigrate({ ...migrating, allowDestructive: true }), 0)
  t.is(shown(), 'drop column "pages" of "books" (content-type `book`)\n')
  folder.write('migrations/2026-01-01-more.before.sql', 'SELECT 1;')
  t.is(await runStatus(migrating), 0)
  t.regex(shown(), /\nmigrations\/\n {4}to be applied +2026-01-01-more\.before\.sql\n$/)
  t.is(await runStatus({ ...migrating, json: true }), 0)
  const history: { readonly done: readonly { readonly steps: readonly string[] }[] } = JSON.parse(shown())
  t.deepEqual(history.done[0]?.steps, ['drop column "pages" of "books" (content-type `book`)'])
})

test('an invalid project and an unreachable database are reported with exit code 1', async t => {
  const folder = temporaryFolder()
  t.teardown(() => folder.remove())
  const reported: string[] = []
  const write = (text: string) => void reported.push(text)
  const paint = (_: string, text: string) => text
  const base = { folder: folder.path, paint, write, writeError: write }
  folder.write('project.yaml', project('title: strin'))
  t.is(await runPlan({ ...base, env: {}, form: 'text' }), 1)
  t.regex(reported.splice(0).join(''), /project\.yaml:3:\d+[\s\S]*string/)
  folder.write('project.yaml', project('title: string'))
  const env = { DATABASE_URL: 'postgres://unknown@127.0.0.1:1/nothing' }
  t.is(await runMigrate({ ...base, env, json: false, allowDestructive: false }), 1)
  t.regex(reported.join(''), /127\.0\.0\.1/)
})
