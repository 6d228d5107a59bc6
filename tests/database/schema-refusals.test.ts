import { tmpdir } from 'node:os'
import test from 'ava'
import { openDatabase } from '../../core/database/open-database.ts'
import { migrate } from '../../core/migrate/migrate.ts'
import { planMigration } from '../../core/migrate/plan-migration.ts'
import { DATABASE_SETTINGS } from '../harness/database-settings.ts'
import { administer, createDatabase, testServer } from '../harness/test-database.ts'
import { storageOf } from '../model/compiled.ts'
import { forget, type SchemaCase, schemaCase } from './schema-case.ts'

const tag = (...attributes: readonly string[]) =>
  `contentTypes: { tag: { attributes: { ${attributes.join(', ')} } } }`

const NAME = 'name: { type: string }'

async function withTags(one: SchemaCase, column: string, ...values: readonly unknown[]): Promise<void> {
  for (const [index, value] of values.entries()) {
    await one.sql(
      `INSERT INTO tags (document_id, created_at, updated_at, published_at, ${column})
       VALUES ($1, now(), now(), now(), $2)`,
      `d${index}`,
      value,
    )
  }
}

test.serial('removing a type with documents is refused, and nothing is changed', async t => {
  const one = await schemaCase(t)
  await one.started(tag(NAME))
  await withTags(one, 'name', 'a', 'b')
  t.deepEqual(await one.refused('contentTypes: { label: { attributes: { name: { type: string } } } }'), [
    'table "tags" (content-type `tag`) is no longer in the project and holds 2 rows: put it back, name it as ' +
      '`renamedFrom` of its successor (`renamedFrom: tag` in `label`), or give its rows up with ' +
      '`plinth migrate --allow-destructive`, or with: DROP TABLE "public"."tags"',
  ])
  t.deepEqual(await one.sql(`SELECT to_regclass('labels')::text`), [[null]])
})

test.serial('removing an attribute with values is refused until the loss is allowed', async t => {
  const one = await schemaCase(t)
  await one.started(tag(NAME, 'size: { type: integer }'))
  await withTags(one, 'size', 1)
  const [message, ...others] = await one.refused(tag(NAME))
  t.deepEqual(others, [])
  t.is(
    message,
    'column "size" of table "tags" (content-type `tag`) is no longer in the project and has values in 1 row: put ' +
      'the attribute back, name it as `renamedFrom` of its successor, or give its values up with ' +
      '`plinth migrate --allow-destructive`, or with: ' +
      'ALTER TABLE "public"."tags" DROP COLUMN "size"',
  )
  await one.sql('ALTER TABLE "public"."tags" DROP COLUMN "size"')
  t.deepEqual(await one.started(tag(NAME)), ['let writes to "tags" record what they change'])
})

test.serial(
  'an attribute under another name is refused and planned with the advice to declare the rename',
  async t => {
    const one = await schemaCase(t)
    await one.started(tag(NAME, 'openHours: { type: integer }'))
    await withTags(one, 'open_hours', 1)
    const renamed = tag(NAME, 'hours: { type: integer }', 'text: { type: text }')
    const [message] = await one.refused(renamed)
    t.regex(
      message ?? '',
      /name it as `renamedFrom` of its successor \(`renamedFrom: open_hours` in `hours`\), or give/,
    )
    const plan = await planMigration(one.database, (await storageOf(renamed)).tables)
    t.deepEqual(
      plan.steps.flatMap(({ notes }) => notes),
      ['loses values in 1 row, unless it is renamed (`renamedFrom: open_hours` in `hours`)'],
    )
    await one.started(tag(NAME, 'hours: { type: integer, renamedFrom: open_hours }'))
    t.deepEqual(await one.sql('SELECT hours FROM tags'), [[1]])
  },
)

test.serial('every reason is listed together', async t => {
  const one = await schemaCase(t)
  await one.started(tag('name: { type: string }', 'size: { type: integer }', 'old: { type: text }'))
  await one.sql(`INSERT INTO tags (document_id, created_at, updated_at, published_at, name, size, old)
    SELECT n, now(), now(), now(), 'same', n, n FROM generate_series(1, 2) AS n`)
  const refused = await one.refused(tag('name: { type: string, unique: true }', 'size: { type: boolean }'))
  t.is(refused.length, 3)
})

test.serial('a change of an attribute type that would lose values is refused', async t => {
  const one = await schemaCase(t)
  await one.started(tag('size: { type: string }'))
  await withTags(one, 'size', 'large', 'small')
  t.deepEqual(await one.refused(tag('size: { type: integer }')), [
    '`size` of content-type `tag` cannot change from character varying(255) to integer without loss: values in 2 rows ' +
      'do not fit: "large (1)", "small (1)": change those first, give the attribute its former type, or a new name, or give the values up with `plinth migrate --allow-destructive`',
  ])
})

test.serial('a change of an attribute type that some values do not fit is refused', async t => {
  const one = await schemaCase(t)
  await one.started(tag('size: { type: text }'))
  await withTags(one, 'size', 'x'.repeat(255), 'x'.repeat(256))
  t.deepEqual(await one.refused(tag('size: { type: string }')), [
    '`size` of content-type `tag` cannot change from text to varchar(255) without loss: values in 1 row do not fit: ' +
      `"${'x'.repeat(60)} (1)": change those first, give the attribute its former type, or a new name, or give the values up with \`plinth migrate --allow-destructive\``,
  ])
})

test.serial('a new required attribute is refused if published rows would lack it', async t => {
  const one = await schemaCase(t)
  const article = (more: string) =>
    `contentTypes: { article: { draftAndPublish: true, attributes: { title: { type: string } ${more} } } }`
  await one.started(article(''))
  const add = (key: number, status: string) =>
    one.sql(
      `INSERT INTO articles (document_key, document_id, status, created_at, updated_at)
       VALUES ($1::integer, $1::integer::text, $2, now(), now())`,
      key,
      status,
    )
  await add(1, 'draft')
  await add(1, 'published')
  await add(2, 'draft')
  const required = ', rating: { type: integer, required: true }'
  t.deepEqual(await one.refused(article(required)), [
    '`rating` of content-type `article` is required, but 1 row would have no value: give the attribute a `backfill`',
  ])
  await one.sql(`DELETE FROM articles WHERE status = 'published'`)
  t.is((await one.started(article(required))).length, 2)
})

test.serial('making an attribute unique is refused if it has duplicate values', async t => {
  const one = await schemaCase(t)
  await one.started(tag(NAME))
  await withTags(one, 'name', 'a', 'a', "it's", "it's", "it's", 'b', null, null)
  t.deepEqual(await one.refused(tag('name: { type: string, unique: true }')), [
    '`name` of content-type `tag` must be unique, but 5 rows share a value with another: "it\'s (3)", "a (2)": ' +
      'change these first',
  ])
})

test.serial('a relation that becomes exclusive is refused with the documents that share a link', async t => {
  const pair = (kind: string, more = '') => `contentTypes:
  tag: { attributes: { label: { type: relation, relation: ${kind}, target: label, inversedBy: tags } } }
  label: { ${more}attributes: { tags: { type: relation, relation: ${kind === 'manyToOne' ? 'oneToMany' : kind}, target: tag, mappedBy: label } } }`
  for (const more of ['', 'draftAndPublish: true, ']) {
    const one = await schemaCase(t)
    await one.started(pair('manyToOne', more))
    await withTags(one, 'label_key', 7, 7, 8)
    t.deepEqual(await one.refused(pair('oneToOne', more)), [
      '`label` of content-type `tag` lets a document be linked once, but 2 rows share a link with another: "d0, d1 (2)": change these first',
    ])
  }
})

const LONG = (unique: boolean) => `
components: { shared.part: { attributes: { text: { type: text, unique: ${unique} } } } }
contentTypes: { tag: { attributes: { text: { type: text, unique: ${unique} }, part: { type: component, component: shared.part } } } }`

test.serial('a text without an index does not become unique if it has duplicate values', async t => {
  const one = await schemaCase(t)
  await one.started(LONG(false))
  const long = 'x'.repeat(3_000)
  await withTags(one, 'text', long, long, 'a', null, null)
  await one.sql(`INSERT INTO components_shared_part (status, owner, owner_key, position, text)
    SELECT 'published', 'tag.part', id, 1, 'same' FROM tags WHERE text IS NOT NULL`)
  t.deepEqual(await one.refused(LONG(true)), [
    `\`text\` of content-type \`tag\` must be unique, but 2 rows share a value with another: "${'x'.repeat(60)} (2)": change these first`,
    '`text` of component `shared.part` must be unique, but 3 rows share a value with another: "same (3)": change these first',
  ])
  await one.sql('UPDATE tags SET text = text || id')
  await one.sql('UPDATE components_shared_part SET text = text || owner_key')
  await one.started(LONG(true))
  // Values that were unique before are not asked for again.
  await one.sql(`UPDATE tags SET text = 'b' WHERE text IS NOT NULL`)
  t.deepEqual(await one.refused(LONG(true).replace('tag:', 'other: { attributes: {} }, tag:')), [])
})

test.serial('removing a used enumeration value is refused', async t => {
  const one = await schemaCase(t)
  await one.started(tag('kind: { type: enumeration, enum: [news, "it\'s", opinion] }'))
  await withTags(one, 'kind', 'news', "it's", "it's", 'opinion')
  t.deepEqual(await one.refused(tag('kind: { type: enumeration, enum: [news] }')), [
    '`kind` of content-type `tag` no longer allows values that are in 3 rows: "it\'s (2)", "opinion (1)": put the ' +
      'values back, name them as `renamedFrom` of their successors, or change these rows first',
  ])
})

test.serial('a table of another application is refused instead of used', async t => {
  const one = await schemaCase(t)
  await one.sql('CREATE TABLE tags (id integer, secret text)')
  await one.sql('CREATE VIEW articles AS SELECT 1 AS one')
  const yaml = `${tag(NAME)}\ncomponents: {}`.replace(
    'tag:',
    'article: { attributes: { a: { type: string } } }, tag:',
  )
  const advice =
    'is there already and was not made by Plinth: rename that table, give the content-type another `tableName`, ' +
    'or Plinth another `database.schema`'
  t.deepEqual(await one.refused(yaml), [
    `table "articles" (content-type \`article\`) ${advice}`,
    `table "tags" (content-type \`tag\`) ${advice}`,
  ])
  t.deepEqual(await one.sql(`SELECT to_regclass('plinth_migrations')::text`), [[null]])
})

test.serial('a foreign column, index or constraint under a needed name is refused', async t => {
  const one = await schemaCase(t)
  await one.started(tag(NAME))
  await one.sql('ALTER TABLE tags ADD COLUMN size integer')
  await one.sql('CREATE INDEX tags__name__unique ON tags (name, size)')
  await one.sql(`ALTER TABLE tags ADD CONSTRAINT tags__kind__check CHECK (name <> 'x')`)
  const declared = [
    'name: { type: string, unique: true }',
    'size: { type: integer }',
    'kind: { type: enumeration, enum: [a] }',
  ]
  t.deepEqual(await one.refused(tag(...declared)), [
    'column "size" of table "tags" (content-type `tag`) was not made by Plinth: rename that column, or the attribute',
    'index "tags__name__unique" of table "tags" was not made by Plinth: rename it',
    'constraint "tags__kind__check" of table "tags" was not made by Plinth: rename it',
  ])
})

test.serial('a column of another maker that would prevent every new row is refused', async t => {
  const one = await schemaCase(t)
  await one.started(tag(NAME))
  await one.sql('ALTER TABLE tags ADD filled integer NOT NULL DEFAULT 1, ADD maybe integer')
  await one.sql('ALTER TABLE tags ADD counted integer NOT NULL GENERATED ALWAYS AS (length(name)) STORED')
  await one.started(tag(NAME))
  await one.sql('ALTER TABLE tags ADD must integer NOT NULL')
  t.deepEqual(await one.refused(tag(NAME)), [
    'column "must" of table "tags" (content-type `tag`) was not made by Plinth, and is NOT NULL without a default, so that no row ' +
      'could be added: give it a default, or run: ALTER TABLE "public"."tags" ALTER COLUMN "must" DROP NOT NULL',
  ])
  await one.sql(
    `CREATE FUNCTION fill_must() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.must := 1; RETURN NEW; END'`,
  )
  await one.sql('CREATE TRIGGER fill BEFORE INSERT ON tags FOR EACH ROW EXECUTE FUNCTION fill_must()')
  await one.started(tag(NAME))
})

test.serial('a primary key that was changed by hand is refused', async t => {
  const one = await schemaCase(t)
  await one.started(tag(NAME))
  await one.sql('ALTER TABLE tags DROP CONSTRAINT tags_pkey CASCADE')
  const refused = await one.refused(tag(NAME))
  t.is(
    refused[0],
    'table "tags" (content-type `tag`) needs the primary key "id", but has none: undo what was changed by hand',
  )
})

test.serial('a column whose numbering was changed or removed by hand is refused', async t => {
  const one = await schemaCase(t)
  await one.started(tag(NAME))
  for (const change of ['SET GENERATED ALWAYS', 'DROP IDENTITY']) {
    await one.sql(`ALTER TABLE tags ALTER COLUMN id ${change}`)
    t.deepEqual(await one.refused(tag(NAME)), [
      'column "id" of table "tags" is no longer numbered as Plinth made it: undo what was changed by hand',
    ])
  }
})

test.serial('dangling links are refused if their foreign key was dropped by hand', async t => {
  const one = await schemaCase(t)
  const yaml = tag(NAME, 'related: { type: relation, relation: manyToMany, target: tag }')
  await one.started(yaml)
  const [table, key] =
    (await one.sql(`SELECT conrelid::regclass::text, conname FROM pg_constraint WHERE contype = 'f'`))[0] ??
    []
  await one.sql(`ALTER TABLE ${table} DROP CONSTRAINT ${key}`)
  await one.sql(`INSERT INTO ${table} (owner_id, target_key, position) VALUES (7, 7, 1)`)
  t.deepEqual(await one.refused(yaml), [
    `table "${table}" (attribute \`tag.related\`) has links in 1 row that lead to no row of "tags": remove those first`,
  ])
})

test.serial('a database error is a refusal that changes nothing', async t => {
  const one = await schemaCase(t)
  await one.started(tag('size: { type: integer }'))
  await one.sql('CREATE VIEW sizes AS SELECT size FROM tags')
  t.deepEqual(await one.refused(tag('size: { type: biginteger }', NAME)), [
    'PostgreSQL refused a change: cannot alter type of a column used by a view or rule: rule _RETURN on view sizes depends on column "size"',
  ])
  await one.sql('CREATE VIEW others AS SELECT size FROM tags')
  const { tables } = await storageOf(tag(NAME))
  const dropped = await migrate(one.database, tables, { allowing: 'destructive' })
  t.deepEqual(dropped.ok ? [] : dropped.reasons.map(({ message }) => message), [
    'PostgreSQL refused a change: cannot drop column size of table tags because other objects depend on it: view sizes depends on column size of table tags; view others depends on column size of table tags',
  ])
  t.deepEqual(
    await one.sql(`SELECT count(*) FROM pg_attribute WHERE attrelid = 'tags'::regclass AND attname = 'name'`),
    [[0]],
  )
})

const server = testServer()
if (server) {
  test.serial('a user who may not create tables is refused with the permission that is missing', async t => {
    const guest = `plinth_guest_${process.pid}`
    await administer(server, `CREATE ROLE ${guest}`)
    t.teardown(() => administer(server, `DROP ROLE ${guest}`))
    const url = await createDatabase(t, server)
    await administer(
      url,
      `REVOKE CREATE ON SCHEMA public FROM PUBLIC; ALTER DATABASE ${new URL(url).pathname.slice(1)} SET role = ${guest}`,
    )
    const opened = await openDatabase({ ...DATABASE_SETTINGS, url }, { root: tmpdir(), observe: () => {} })
    if (!opened.ok) return t.fail()
    t.teardown(() => opened.value.close())
    const refused = await migrate(opened.value, (await storageOf(tag(NAME))).tables)
    t.deepEqual(refused.ok ? [] : refused.reasons.map(({ message }) => message), [
      'PostgreSQL refused a change: permission denied for schema public. The user of database.url has to own the tables of Plinth and be allowed to create them: GRANT CREATE ON SCHEMA <database.schema> TO <user>',
    ])
  })
}

test.serial('a large table is not locked at start', async t => {
  const one = await schemaCase(t)
  await one.started(tag(NAME))
  await withTags(one, 'name', 'a', 'b', 'c')
  const { tables } = await storageOf(tag('name: { type: string, unique: true }'))
  const refused = await migrate(one.database, tables, { manyRows: 2 })
  t.deepEqual(refused.ok ? [] : refused.reasons.map(({ message }) => message), [
    'index "tags__name__unique" cannot be made at start, because the table holds 3 rows and would be locked ' +
      'meanwhile: `plinth migrate` does it, or run when it suits you: ' +
      'CREATE UNIQUE INDEX CONCURRENTLY "tags__name__unique" ON "public"."tags" ("name")',
  ])
  const { steps } = await planMigration(one.database, tables, { manyRows: 2 })
  t.deepEqual(
    steps.map(({ weight, summary, notes }) => [weight, summary, ...notes]),
    [['slow', 'add unique index "tags__name__unique" to "tags"', '3 rows, made while others write']],
  )
  t.true((await migrate(one.database, tables, { allowing: 'slow', manyRows: 2 })).ok)
})

test.serial(
  'a start waits a bounded time for a concurrent migration and for transactions that lock a table',
  async t => {
    const one = await schemaCase(t)
    await one.started(tag(NAME))
    const { tables } = await storageOf(tag(NAME, 'size: { type: integer }'))
    const limits = { turn: 200, lock: 200, statement: 5000 }
    const reasons = async () => {
      const result = await migrate(one.database, tables, { limits })
      return result.ok ? [] : result.reasons.map(({ code, message }) => [code, message])
    }
    if (one.database.kind === 'embedded') {
      // One process alone uses it, and its transactions are serialised: there is no session to wait for.
      t.deepEqual(await reasons(), [])
      return
    }
    await one.database.transaction(async other => {
      await other.lock(`plinth migration of ${one.database.schema}`)
      t.deepEqual(await reasons(), [
        [
          'busy',
          'another process has been migrating this database for over 0.2 s: start again when it is done',
        ],
      ])
    })
    await one.database.transaction(async other => {
      await other.run({ text: 'LOCK TABLE tags IN SHARE MODE', values: [] })
      t.deepEqual(await reasons(), [
        [
          'busy',
          'a table was in use for over 0.2 s, or a change took over 5 s (canceling statement due to lock timeout): ' +
            'nothing was changed; start again when the database is less busy',
        ],
      ])
    })
    t.deepEqual(await reasons(), [])
  },
)

test.serial('drafts are not turned on until the database has recorded the options of its rows', async t => {
  const page = (options: string) => `contentTypes: { page: { ${options} attributes: { ${NAME} } } }`
  const one = await schemaCase(t)
  await one.started(page(''))
  await one.sql(
    `INSERT INTO pages (document_id, created_at, updated_at, published_at) VALUES ('a', now(), now(), now())`,
  )
  await one.sql('UPDATE plinth_tables SET shape = NULL')
  const missing = (column: string) =>
    `column "${column}" of content-type \`page\` is required, but 1 row would have no value: what a row is (drafts, locales, owners) can only change where there are none`
  t.deepEqual(await one.refused(page('draftAndPublish: true,')), [missing('document_key'), missing('status')])
  await forget(one)
  await one.started(page(''))
  t.deepEqual(await one.sql('SELECT shape IS NULL FROM plinth_tables WHERE name = $1', 'pages'), [[false]])
  await one.started(page('draftAndPublish: true,'))
  t.deepEqual(await one.sql('SELECT status FROM pages ORDER BY id'), [['published'], ['draft']])
})

test.serial('a type with several documents does not become a single type', async t => {
  const { database, started, refused, sql } = await schemaCase(t)
  const home = (more: string) => `contentTypes: { home: { ${more}attributes: { title: string } } }`
  await started(home(''))
  const insert = (id: string) =>
    sql(`INSERT INTO homes (document_id, title, created_at, updated_at) VALUES ($1, 'a', now(), now())`, id)
  await insert('first')
  const step = 'make content-type `home` a single type'
  t.deepEqual(await started(home('kind: single, ')), [step])
  t.deepEqual(await started(home('kind: single, ')), [])
  t.deepEqual(await started(home('')), [])
  const { tables } = await storageOf(home('kind: single, '))
  t.like((await planMigration(database, tables)).steps, [
    { summary: step, window: 'contract', statements: [] },
  ])
  await insert('second')
  t.deepEqual(await refused(home('kind: single, ')), [
    'content-type `home` cannot become a single type, because it has several documents: "first", "second": delete all but one of them first',
  ])
  await sql(`DELETE FROM homes WHERE document_id = 'second'`)
  t.deepEqual(await started(home('kind: single, ')), [step])
})

test.serial('a list becomes one component once no previous version stores further ones', async t => {
  const { database, started } = await schemaCase(t)
  const page = (more: string) => `
components: { shared.part: { attributes: { text: string } } }
contentTypes: { page: { attributes: { part: { type: component, component: shared.part${more} } } } }
`
  await started(page(', repeatable: true'))
  const step = 'take one component alone in `page.part`'
  const { tables } = await storageOf(page(''))
  t.like((await planMigration(database, tables)).steps, [
    { summary: step, window: 'contract', statements: [] },
  ])
  t.deepEqual(await started(page('')), [step])
  t.deepEqual(await started(page('')), [])
})

const PART = (unique: boolean, localized: boolean) => `
i18n: { locales: [en, fr], defaultLocale: en }
components:
  shared.part: { attributes: { code: { type: string, unique: ${unique} }, inner: { type: component, component: shared.inner } } }
  shared.inner: { attributes: { key: { type: string, unique: ${unique} } } }
contentTypes:
  article: { localized: ${localized}, attributes: { part: { type: component, component: shared.part } } }`

const holdParts = async ({ sql }: SchemaCase, code: string, key: string) => {
  const table = async (name: string, owner: string, column: string, value: string, ownerKey: number) =>
    Number(
      (
        await sql(
          `INSERT INTO ${name} (status, owner, owner_key, position, ${column}) VALUES ('published', $1, $2, 1, $3) RETURNING id`,
          owner,
          ownerKey,
          value,
        )
      )[0]?.[0],
    )
  const [[article] = []] = await sql(
    `INSERT INTO articles (document_id, created_at, updated_at) VALUES (gen_random_uuid()::text, now(), now()) RETURNING id`,
  )
  const part = await table('components_shared_part', 'article.part', 'code', code, Number(article))
  await table('components_shared_inner', 'shared.part.inner', 'key', key, part)
}

test.serial('an attribute of components does not become unique if components share a value', async t => {
  const one = await schemaCase(t)
  await one.started(PART(false, false))
  await holdParts(one, 'x', 'k1')
  await holdParts(one, 'x', 'k2')
  t.deepEqual(await one.refused(PART(true, false)), [
    '`code` of component `shared.part` must be unique, but 2 rows share a value with another: "x (2)": change these first',
  ])
  await one.sql(`UPDATE components_shared_part SET code = code || owner_key`)
  await one.started(PART(true, false))
})

test.serial('components that share a unique value do not get one locale', async t => {
  const one = await schemaCase(t)
  await one.started(PART(true, false))
  // The index alone does not prevent it, because the locale of these components is NULL.
  await holdParts(one, 'x', 'k1')
  await holdParts(one, 'x', 'k2')
  t.deepEqual(await one.refused(PART(true, true)), [
    '`code` of component `shared.part` must be unique, but 2 rows share a value with another: "x / en (2)": change these first',
  ])
  await one.sql(`UPDATE components_shared_part SET code = code || owner_key`)
  await one.sql(`UPDATE components_shared_inner SET key = 'k'`)
  t.deepEqual(await one.refused(PART(true, true)), [
    'rows of table "components_shared_inner" would share a value that must be unique (index "components_shared_inner__key__locale__unique"): change these first',
  ])
  await one.sql(`UPDATE components_shared_inner SET key = key || owner_key`)
  await one.started(PART(true, true))
  t.deepEqual(await one.sql('SELECT DISTINCT locale FROM components_shared_inner'), [['en']])
})
