import test from 'ava'
import { forget, schemaCase } from './schema-case.ts'

const ARTICLE = `
contentTypes:
  article:
    draftAndPublish: true
    attributes:
      title: { type: string, required: true }
      slug: { type: uid }
`

const EVERYTHING = `
i18n: { locales: [en, fr], defaultLocale: en }
components:
  shared.seo:
    attributes:
      meta: { type: string, required: true, default: "it's \\"meta\\" \\\\ ééé" }
      image: { type: media }
contentTypes:
  author:
    attributes:
      name: { type: string, unique: true }
      articles: { type: relation, relation: oneToMany, target: article, mappedBy: author }
  article:
    draftAndPublish: true
    localized: true
    indexes: [[title, published_on]]
    attributes:
      title: { type: string, required: true }
      slug: { type: uid, targetField: title }
      kind: { type: enumeration, enum: [news, "it's", 'back\\slash', '"quoted"', 日本語, "$1; DROP TABLE article"], default: "it's" }
      count: { type: integer, default: -5 }
      big: { type: biginteger, default: "9007199254740993" }
      ratio: { type: float, default: 1.50 }
      price: { type: decimal, default: 12.5 }
      done: { type: boolean, default: false }
      published_on: { type: date, default: 2020-02-29 }
      opens: { type: time, default: "12:30:00.500" }
      at: { type: datetime, default: "2020-01-01T00:00:00.500Z" }
      data: { type: json, default: { b: [1, "it's"], a: null } }
      body: { type: richtext }
      author: { type: relation, relation: manyToOne, target: author, inversedBy: articles }
      related: { type: relation, relation: manyToMany, target: article }
      cover: { type: media }
      gallery: { type: media, multiple: true }
      seo: { type: component, component: shared.seo }
      blocks: { type: dynamiczone, components: [shared.seo] }
`

test.serial('an empty database gets every table at the first start', async t => {
  const { started, sql } = await schemaCase(t)
  const steps = await started(ARTICLE)
  t.true(steps.includes('create table "articles" (content-type `article`)'))
  await sql(`INSERT INTO articles (document_key, document_id, status, created_at, updated_at, title)
    VALUES (1, 'a', 'draft', now(), now(), 'x')`)
  t.deepEqual(await sql('SELECT id, title FROM articles'), [[1, 'x']])
})

test.serial('a second start changes nothing and records nothing', async t => {
  const { started, sql } = await schemaCase(t)
  await started(EVERYTHING)
  t.deepEqual(await started(EVERYTHING), [])
  t.deepEqual(await sql('SELECT count(*) FROM plinth_migrations'), [[1]])
})

test.serial(
  'a full comparison finds each kind of column, default, index and constraint unchanged',
  async t => {
    const one = await schemaCase(t)
    await one.started(EVERYTHING)
    await forget(one)
    t.deepEqual(await one.started(EVERYTHING), [])
  },
)

test.serial(
  'values with quotes, backslashes and any script match their declared constraints in the database',
  async t => {
    const { started, sql } = await schemaCase(t)
    await started(EVERYTHING)
    const insert = `INSERT INTO articles (document_key, document_id, status, locale, created_at, updated_at, kind)
    VALUES ($1::integer, $1::integer::text, 'draft', 'en', now(), now(), $2)`
    const values = ["it's", 'back\\slash', '"quoted"', '日本語', '$1; DROP TABLE article']
    for (const [index, value] of values.entries()) await sql(insert, index, value)
    t.deepEqual((await sql('SELECT kind FROM articles ORDER BY id')).flat(), values)
    await t.throwsAsync(sql(insert, 9, 'its'), { message: /violates check constraint/ })
  },
)

test.serial('an added attribute gets its column, and existing rows get its default', async t => {
  const { started, sql } = await schemaCase(t)
  await started(ARTICLE)
  await sql(`INSERT INTO articles (document_key, document_id, status, created_at, updated_at, title)
    VALUES (1, 'a', 'published', now(), now(), 'x')`)
  const steps = await started(`${ARTICLE}      rating: { type: integer, required: true, backfill: 3 }\n`)
  t.deepEqual(steps, [
    'add column "rating" to "articles" (`rating` of content-type `article`)',
    'add check "articles__rating__required" to "articles"',
  ])
  t.deepEqual(await sql('SELECT title, rating FROM articles'), [['x', 3]])
})

test.serial('an attribute that becomes required fills empty rows with its backfill', async t => {
  const { started, sql } = await schemaCase(t)
  await started(`${ARTICLE}      rating: { type: integer }\n`)
  await sql(`INSERT INTO articles (document_key, document_id, status, created_at, updated_at, title)
    VALUES (1, 'a', 'published', now(), now(), 'x'), (1, 'a', 'draft', now(), now(), 'x')`)
  const steps = await started(`${ARTICLE}      rating: { type: integer, required: true, backfill: 3 }\n`)
  t.true(steps.includes('fill `rating` of content-type `article` where it is empty'))
  t.deepEqual(await sql('SELECT status, rating FROM articles ORDER BY status'), [
    ['draft', null],
    ['published', 3],
  ])
})

test.serial('an attribute that is no longer required or unique loses its constraints', async t => {
  const { started, sql } = await schemaCase(t)
  await started('contentTypes: { tag: { attributes: { name: { type: string, unique: true } } } }')
  t.deepEqual(await started('contentTypes: { tag: { attributes: { name: { type: string } } } }'), [
    'drop index "tags__name__unique" of "tags"',
  ])
  await sql(`INSERT INTO tags (document_id, created_at, updated_at, published_at, name)
    VALUES ('a', now(), now(), now(), 'x'), ('b', now(), now(), now(), 'x')`)
  t.pass()
})

test.serial('a renamed type, attribute, component or enumeration value keeps its rows', async t => {
  const { started, sql } = await schemaCase(t)
  await started(`
components: { shared.meta: { attributes: { words: { type: string } } } }
contentTypes:
  post:
    draftAndPublish: true
    attributes:
      headline: { type: string, required: true }
      slug: { type: uid }
      kind: { type: enumeration, enum: [news, views] }
      more: { type: relation, relation: oneToMany, target: post }
      meta: { type: component, component: shared.meta }
`)
  await sql(`INSERT INTO posts (document_key, document_id, status, created_at, updated_at, headline, kind)
    VALUES (1, 'a', 'draft', now(), now(), 'x', 'views')`)
  const [component] = (
    await sql(`SELECT name FROM plinth_tables WHERE serves = 'component \`shared.meta\`'`)
  ).flat()
  await sql(
    `INSERT INTO ${component} (id, status, owner, owner_key, position, words) VALUES (1, 'draft', 'post.meta', 1, 1, 'w')`,
  )
  const renamed = `
components: { shared.seo: { renamedFrom: shared.meta, attributes: { text: { type: string, renamedFrom: words } } } }
contentTypes:
  article:
    renamedFrom: post
    draftAndPublish: true
    attributes:
      title: { type: string, required: true, renamedFrom: headline }
      slug: { type: uid }
      kind: { type: enumeration, enum: [news, { value: opinion, renamedFrom: views }] }
      related: { type: relation, relation: oneToMany, target: article, renamedFrom: more }
      seo: { type: component, component: shared.seo, renamedFrom: meta }
`
  const steps = await started(renamed)
  t.true(steps.includes('rename table "posts" to "articles" (content-type `article`)'))
  t.deepEqual(
    steps.filter(step => /^(create|drop|add)/.test(step)).filter(step => !/check/.test(step)),
    [],
  )
  t.deepEqual(await sql('SELECT title, kind FROM articles'), [['x', 'opinion']])
  const [seo] = (await sql(`SELECT name FROM plinth_tables WHERE serves = 'component \`shared.seo\`'`)).flat()
  t.deepEqual(await sql(`SELECT owner, text FROM ${seo}`), [['article.seo', 'w']])
  t.deepEqual(await started(renamed), [])
})

test.serial('a renamed locale keeps its versions', async t => {
  const { started, sql } = await schemaCase(t)
  const type = 'contentTypes: { page: { localized: true, attributes: { title: { type: string } } } }'
  await started(`${type}\ni18n: { locales: [en, fr-FR], defaultLocale: en }`)
  await sql(`INSERT INTO pages (document_key, document_id, locale, created_at, updated_at, published_at)
    VALUES (1, 'a', 'fr-FR', now(), now(), now())`)
  await started(`${type}\ni18n: { locales: [en, { code: fr, renamedFrom: fr-FR }], defaultLocale: en }`)
  t.deepEqual(await sql('SELECT locale FROM pages'), [['fr']])
})

test.serial('an attribute may change to a type that fits all its values', async t => {
  const { started, sql } = await schemaCase(t)
  const type = (kind: string) => `contentTypes: { tag: { attributes: { size: { type: ${kind} } } } }`
  await started(type('integer'))
  await sql(
    `INSERT INTO tags (document_id, created_at, updated_at, published_at, size) VALUES ('a', now(), now(), now(), 7)`,
  )
  t.deepEqual(await started(type('biginteger')), [
    'change `size` of content-type `tag` from integer to bigint',
  ])
  await started(type('string'))
  await started(type('text'))
  t.deepEqual(await sql('SELECT size FROM tags'), [['7']])
})

test.serial('an attribute without values may change to any type', async t => {
  const { started } = await schemaCase(t)
  await started('contentTypes: { tag: { attributes: { size: { type: integer, default: 3 } } } }')
  await started('contentTypes: { tag: { attributes: { size: { type: json, default: { a: 1 } } } } }')
  t.pass()
})

test.serial(
  'an empty type or attribute may be removed from the project, and stays in the database',
  async t => {
    const { start, started, sql } = await schemaCase(t)
    await started(`${ARTICLE}  tag: { attributes: { name: { type: string } } }\n`)
    const result = await start(
      'contentTypes: { article: { draftAndPublish: true, attributes: { slug: { type: uid } } } }',
    )
    t.true(result.ok)
    const left = result.ok ? result.value.left : []
    t.deepEqual(
      left.map(({ table, column }) => ({ table, column })),
      [
        { table: 'articles', column: 'title' },
        { table: 'tags', column: null },
      ],
    )
    t.deepEqual(await sql('SELECT count(title) FROM articles CROSS JOIN tags'), [[0]])
  },
)

test.serial('objects of other applications in the same schema stay untouched', async t => {
  const one = await schemaCase(t)
  await one.started(ARTICLE)
  await one.sql('CREATE TABLE ledger (id integer PRIMARY KEY, title text)')
  await one.sql('CREATE VIEW titles AS SELECT title FROM articles')
  await one.sql('ALTER TABLE articles ADD COLUMN by_hand text')
  await one.sql('CREATE INDEX by_hand ON articles (title, slug)')
  await one.sql(`ALTER TABLE articles ADD CONSTRAINT no_x CHECK (title <> 'x')`)
  t.deepEqual(await one.started(ARTICLE), [])
  t.deepEqual(await one.started(`${ARTICLE}      more: { type: text }\n`), [
    'add column "more" to "articles" (`more` of content-type `article`)',
  ])
  t.deepEqual(await one.sql(`SELECT count(*) FROM pg_indexes WHERE indexname = 'by_hand'`), [[1]])
  t.deepEqual(await one.sql(`SELECT count(*) FROM pg_constraint WHERE conname = 'no_x'`), [[1]])
})

test.serial('objects damaged by hand are repaired', async t => {
  const one = await schemaCase(t)
  await one.started(ARTICLE)
  await one.sql('ALTER TABLE articles DROP CONSTRAINT articles__title__required')
  await one.sql('ALTER TABLE articles DISABLE TRIGGER USER')
  await one.sql('DROP INDEX articles__slug__unique')
  await one.sql('CREATE UNIQUE INDEX articles__slug__unique ON articles (slug)')
  const steps = await one.started(ARTICLE)
  t.true(steps.includes('add check "articles__title__required" to "articles"'))
  t.true(steps.includes('let writes to "articles" move its version again'))
})

test.serial('an index that was created beforehand without blocking writers is accepted', async t => {
  const { started, sql } = await schemaCase(t)
  await started('contentTypes: { tag: { attributes: { name: { type: string } } } }')
  await sql('CREATE UNIQUE INDEX tags__name__unique ON tags (name)')
  t.deepEqual(
    await started('contentTypes: { tag: { attributes: { name: { type: string, unique: true } } } }'),
    [],
  )
})

test.serial('processes that start concurrently on an empty database migrate it once', async t => {
  const { start, sql } = await schemaCase(t)
  const results = await Promise.all(Array.from({ length: 4 }, () => start(EVERYTHING)))
  t.true(results.every(result => result.ok))
  t.is(results.filter(result => result.ok && result.value.steps.length > 0).length, 1)
  t.deepEqual(await sql('SELECT count(*) FROM plinth_migrations'), [[1]])
})

test.serial('plinth_fold lower-cases all of Unicode', async t => {
  const { started, sql } = await schemaCase(t)
  await started(ARTICLE)
  t.deepEqual(await sql(`SELECT plinth_fold('ÉTÉ'), plinth_fold('ЖЁ ŐŻ Ω')`), [['été', 'жё őż ω']])
})

test.serial('each migration is recorded with time, version and steps', async t => {
  const { started, sql } = await schemaCase(t)
  const steps = await started(ARTICLE)
  const [row] = await sql(
    `SELECT product ~ '^[0-9]+[.]', applied_at > now() - interval '1 hour', steps::text FROM plinth_migrations`,
  )
  t.deepEqual([row?.[0], row?.[1], JSON.parse(String(row?.[2]))], [true, true, steps])
})
