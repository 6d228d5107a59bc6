import { renameSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { readCustomMigrationStatus } from '../../core/migrate/custom-migrations/migration-record.ts'
import { migrate } from '../../core/migrate/migrate.ts'
import { planMigration } from '../../core/migrate/plan-migration.ts'
import { checkMigrations, loadMigrations } from '../../core/plugins/load/load-migrations.ts'
import { printPlan } from '../../tools/cli/migrate.ts'
import { temporaryFolder } from '../harness/folder.ts'
import { storageOf } from '../model/compiled.ts'
import { type SchemaCase, schemaCase } from './schema-case.ts'

/** A database, and a folder with migrations/. */
async function shop(t: ExecutionContext) {
  const folder = temporaryFolder()
  t.teardown(() => folder.remove())
  const one: SchemaCase = await schemaCase(t)
  const { database } = one
  let yaml = ''
  const wanted = async () => {
    const files = await loadMigrations(folder.path)
    if (!files.ok)
      throw new Error(files.reasons.map(({ location, message }) => `${location.file}: ${message}`).join('\n'))
    return { files: files.value, tables: (await storageOf(yaml)).tables }
  }
  return {
    sql: one.sql,
    person(attributes: string) {
      yaml = `contentTypes: { person: { attributes: { ${attributes} } } }`
    },
    migration: (name: string, ...lines: readonly string[]) =>
      folder.write(`migrations/${name}`, `${lines.join('\n')}\n`),
    /** As Kubernetes mounts a ConfigMap: each file is a link to one in a hidden folder. */
    link(name: string) {
      const path = join(folder.path, 'migrations', name)
      folder.write('migrations/..data/README', '')
      renameSync(path, join(folder.path, 'migrations', '..data', name))
      symlinkSync(join('..data', name), path)
    },
    remove: (name: string) => rmSync(join(folder.path, 'migrations', name)),
    async plan(form: 'text' | 'sql' = 'text') {
      const { tables, files } = await wanted()
      const plan = await planMigration(database, tables, { files })
      return printPlan(plan, { form, paint: (_, text) => text })
    },
    /** The steps, or why there are none. */
    async migrate() {
      const { tables, files } = await wanted()
      const done = await migrate(database, tables, { files })
      return (done.ok ? done.value.steps : done.reasons.map(({ message }) => `- ${message}`)).join('\n')
    },
    check: async () =>
      (await checkMigrations(folder.path)).map(
        ({ location }) => `${location.file}:${location.line}:${location.column}`,
      ),
    status: async () => readCustomMigrationStatus(database, (await wanted()).files),
  }
}

type Shop = Awaited<ReturnType<typeof shop>>

const NAME = 'name: string'
const BOTH = `${NAME}, first: string, surname: { type: string, required: true }`

const AFTER = [
  `import { defineMigration } from 'plinth'`,
  'export default defineMigration(async ({ sql }) => {',
  '  const people = await sql<{ id: number; name: string }>`SELECT id, name FROM people WHERE name LIKE $$% %$$`',
  '  for (const { id, name } of people)',
  `    await sql\`UPDATE people SET first = \${name.split(' ')[0]} WHERE id = \${id}\``,
  '})',
]

async function filled(one: Shop): Promise<void> {
  one.person(NAME)
  await one.migrate()
  await one.sql(`INSERT INTO people (document_id, created_at, updated_at, published_at, name)
    VALUES ('a', now(), now(), now(), 'Ada Lovelace'), ('b', now(), now(), now(), 'Plato')`)
}

const BEFORE = [
  'ALTER TABLE people ADD COLUMN surname varchar(255), ADD COLUMN mine text;',
  `UPDATE people SET surname = coalesce(nullif(split_part(name, ' ', 2), ''), '-'); -- the rest is Plinth's`,
]

test.serial(
  'custom migrations run once, before and after the generated steps, and appear in the plan',
  async t => {
    const one = await shop(t)
    await filled(one)
    one.person(BOTH)
    const rename = `UPDATE people SET name = name || ' ' WHERE name = 'Plato';`
    one.migration('2026-01-01-names.before.sql', ...BEFORE, rename)
    one.migration('2026-01-01-names.after.ts', ...AFTER)
    one.migration('README.md', 'Not code.')
    t.regex(
      await one.plan(),
      /run migrations\/2026-01-01-names\.before\.sql: written by hand\n[\s\S]*add column "first"[\s\S]*run migrations\/2026-01-01-names\.after\.ts/,
    )
    t.regex(
      await one.plan('sql'),
      /names\.before\.sql: written by hand\nALTER TABLE people ADD COLUMN surname/,
    )
    t.deepEqual(await one.sql('SELECT name FROM people ORDER BY id'), [['Ada Lovelace'], ['Plato']])
    t.regex(
      await one.migrate(),
      /^run migrations\/2026-01-01-names\.before\.sql\n[\s\S]*\nrun migrations\/2026-01-01-names\.after\.ts$/,
    )
    t.deepEqual(await one.sql('SELECT name, first, surname, mine FROM people ORDER BY id'), [
      ['Ada Lovelace', 'Ada', 'Lovelace', null],
      ['Plato ', 'Plato', '-', null],
    ])
    t.is(await one.migrate(), '')
    t.regex(await one.plan(), /nothing to do/)

    one.migration('2026-01-01-names.before.sql', 'SELECT 1;')
    one.migration('2025-12-31-late.before.sql', 'SELECT 1;')
    const why = await one.migrate()
    t.regex(
      why,
      /^- migrations\/2026-01-01-names\.before\.sql was changed after it was applied at \S+Z: put its text back and write a new file; or have it run again: DELETE FROM "public"."plinth_migration_files" WHERE name = '2026-01-01-names\.before\.sql'$/m,
    )
    t.regex(
      why,
      /^- migrations\/2025-12-31-late\.before\.sql is new, but sorts before migrations\/2026-01-01-names\.after\.ts/m,
    )
    t.deepEqual(
      (await one.status()).map(({ name, state }) => [name, state]),
      [
        ['2025-12-31-late.before.sql', 'pending'],
        ['2026-01-01-names.after.ts', 'applied'],
        ['2026-01-01-names.before.sql', 'changed'],
      ],
    )
    one.remove('2026-01-01-names.after.ts')
    t.regex(
      await one.migrate(),
      /^- migrations\/2026-01-01-names\.after\.ts is not there, but it was applied/m,
    )
  },
)

test.serial(
  'a custom migration that fails, or leaves other tables than the project declares, is rolled back',
  async t => {
    const one = await shop(t)
    await filled(one)
    one.person(BOTH)
    t.regex(await one.migrate(), /`surname` of content-type `person` is required, but 2 rows/)
    one.migration('a.before.sql', ...BEFORE)
    const after = async (...lines: readonly string[]) => {
      one.migration('b.after.ts', ...lines)
      return one.migrate()
    }
    const doing = (text: string) => after(...AFTER.slice(0, 2), text, '})')
    t.is(await after(...AFTER, `throw new Error('not today')`), '- migrations/b.after.ts failed: not today')
    // Not awaited, and reported nevertheless.
    t.is(
      await doing('sql`UPDATE missing SET first = 1`'),
      '- migrations/b.after.ts failed: relation "missing" does not exist',
    )
    t.regex(
      await doing('await sql`COMMIT`'),
      /^- migrations\/b\.after\.ts failed: COMMIT would end the migration's transaction/,
    )
    t.regex(
      await doing('await sql`ALTER TABLE people DROP COLUMN first`'),
      /after the files of migrations\/ the tables would not be as the project wants them[\s\S]*add column "first"/,
    )
    t.regex(
      await after('export default 7'),
      /b\.after\.ts failed: expected `export default defineMigration\(…\)`/,
    )
    one.migration('b.after.ts', 'export default {{')
    t.regex(await one.plan(), /refused {2}migrations\/b\.after\.ts failed: ParseError/)
    t.deepEqual(await one.check(), ['migrations/b.after.ts:1:17'])
    one.migration('b.after.sql', 'begin;')
    one.migration('c.sql', 'SELECT 1')
    const wrong = await t.throwsAsync(one.migrate())
    t.regex(wrong?.message ?? '', /migrations\/b\.after\.sql: BEGIN must not be in it/)
    t.regex(wrong?.message ?? '', /migrations\/c\.sql: `c\.sql` does not say when it runs/)
    const columns = `SELECT count(*)::integer FROM information_schema.columns
      WHERE table_name = 'people' AND column_name IN ('surname', 'first')`
    t.deepEqual(await one.sql(columns), [[0]])
  },
)

/** Code that optionally continues after a failure, and returns the result of its statement. */
const LATE = [
  `let go = () => {}`,
  `const went = new Promise(resolve => { go = resolve }).then(() => sql\`UPDATE people SET name = 'late'\`)`,
  `Reflect.set(globalThis, 'lateMigration', () => { go(); return went.then(() => 'done', error => error.message) })`,
  `throw new Error('not today')`,
]

test.serial('a migration runs that is a symbolic link to a file', async t => {
  const one = await shop(t)
  await filled(one)
  one.migration('2026-01-02-mine.before.sql', 'ALTER TABLE people ADD COLUMN mine text;')
  one.link('2026-01-02-mine.before.sql')
  t.regex(await one.migrate(), /run migrations\/2026-01-02-mine\.before\.sql/)
})

test.serial('code that continues after its migration failed cannot reach the database', async t => {
  const one = await shop(t)
  await filled(one)
  t.teardown(() => Reflect.deleteProperty(globalThis, 'lateMigration'))
  one.migration('a.after.ts', ...AFTER.slice(0, 2), ...LATE, '})')
  t.is(await one.migrate(), '- migrations/a.after.ts failed: not today')
  const goOn: unknown = Reflect.get(globalThis, 'lateMigration')
  if (typeof goOn !== 'function') return t.fail()
  t.is(await goOn(), 'this migration is over: wait for each statement (`await`)')
  t.deepEqual(await one.sql('SELECT name FROM people ORDER BY id'), [['Ada Lovelace'], ['Plato']])
})

test.serial('a new database skips earlier custom migrations, except those that request it', async t => {
  const one = await shop(t)
  one.person(NAME)
  one.migration('1-old.before.sql', 'UPDATE people_of_old SET name = 1;')
  const view = 'CREATE VIEW names AS SELECT name FROM people;'
  one.migration('2-view.after.sql', '-- plinth: new databases too', view)
  t.regex(await one.plan(), /run migrations\/2-view\.after\.sql/)
  await one.migrate()
  t.deepEqual(await one.sql('SELECT count(*)::integer FROM names'), [[0]])
  t.deepEqual(
    (await one.status()).map(({ state }) => state),
    ['skipped', 'applied'],
  )
})

test('session settings of a migration file do not affect later statements', async t => {
  const one = await shop(t)
  one.person(NAME)
  await one.migrate()
  const settings = `SELECT current_setting('default_transaction_read_only'), current_setting('statement_timeout'),
    (SELECT count(*)::int FROM pg_prepared_statements WHERE from_sql)`
  const before = await one.sql(settings)
  one.migration(
    'a.before.sql',
    `SET default_transaction_read_only = on; SET statement_timeout = '1s'; PREPARE stray AS SELECT 1;`,
  )
  t.is(await one.migrate(), 'run migrations/a.before.sql')
  // Whichever connection of the pool they get.
  const found = await Promise.all(Array.from({ length: 10 }, () => one.sql(settings)))
  for (const rows of found) t.deepEqual(rows, before)
  await one.sql(
    'INSERT INTO people (document_id, name, created_at, updated_at) VALUES ($1, $1, now(), now())',
    'a',
  )
})
