import { Readable } from 'node:stream'
import test, { type ExecutionContext } from 'ava'
import type { Database } from '../../core/database/database.ts'
import { openDatabase } from '../../core/database/open-database.ts'
import type { Advice } from '../../core/doctor/advice.ts'
import { runDoctor } from '../../tools/cli/doctor.ts'
import { runMigrate } from '../../tools/cli/migrate.ts'
import { DATABASE_SETTINGS } from '../harness/database-settings.ts'
import { projectFolder } from '../harness/project-folder.ts'
import { startServer } from '../harness/server.ts'
import { administer, testServer } from '../harness/test-database.ts'

const project = (indexes: string, more = '') => `name: Library
server: { host: 127.0.0.1, port: "\${PORT:-1337}", slowQuery: 1ms${more} }
database: { url: "\${DATABASE_URL:-embedded}" }
contentTypes:
  book:
    indexes: [${indexes}]
    attributes: { title: string, rating: integer, shelf: string }
roles: { public: { permissions: { book: [find] } } }
`

async function openPractice(t: ExecutionContext, file: string) {
  const { folder, url } = await projectFolder(t)
  const output: string[] = []
  const messages: string[] = []
  const options = (env: Readonly<Record<string, string>> = {}) => ({
    folder: folder.path,
    env: { DATABASE_URL: url, ...env },
    paint: (_: string, text: string) => text,
    write: (text: string) => void output.push(text),
    writeError: (text: string) => void messages.push(text),
  })
  const migrated = async (yaml: string) => {
    folder.write('project.yaml', yaml)
    t.is(await runMigrate({ ...options(), json: false, allowDestructive: false }), 0, messages.join(''))
  }
  await migrated(file)
  return {
    url,
    folder,
    migrated,
    async withDatabase(work: (database: Database) => Promise<unknown>) {
      const opened = await openDatabase(
        { ...DATABASE_SETTINGS, url },
        { root: folder.path, observe: () => {} },
      )
      if (!opened.ok) throw new Error(opened.reasons.map(({ message }) => message).join('\n'))
      await work(opened.value).finally(() => opened.value.close())
    },
    async ask({ log = '', tries = false, analyze = false, env = {} } = {}) {
      output.length = 0
      const input = () => Readable.from([log.slice(0, 100), log.slice(100)])
      const code = await runDoctor({ ...options(env), log: '-', input, json: true, tries, analyze })
      const { advice }: { advice: readonly Advice[] } = JSON.parse(output.join(''))
      return { code, advice }
    },
  }
}

const codesOf = (advice: readonly Advice[]) => advice.map(({ code, about }) => `${code} ${about}`)

const run = (database: Database, text: string) => database.run({ text, values: [] })

test('a slow list is reported with the missing index, and no longer after it is added', async t => {
  const practice = await openPractice(t, project('[title]'))
  await practice.withDatabase(async database => {
    await run(
      database,
      `INSERT INTO books (document_id, title, rating, shelf, created_at, updated_at, published_at)
      SELECT 'b' || n, 'Title ' || n, n % 1000, 'S' || n % 5, now(), now(), now() FROM generate_series(1, 20000) AS n`,
    )
    await run(database, 'ANALYZE books')
  })
  const server = await startServer({
    project: practice.folder.path,
    environment: { DATABASE_URL: practice.url },
  })
  t.teardown(() => server.stop())
  const shelf = 'filters[rating]=500&filters[shelf][$in][0]=a-secret&sort=title'
  const asked = [shelf, 'filters[title][$containsi]=le 1', 'sort=rating:desc&pagination[start]=2000']
  for (const query of asked) t.is((await server.get(`/api/books?${query}`)).status, 200)
  await server.stop()
  const log = server.log()
  t.true(log.includes('slowWork'))

  const { code, advice } = await practice.ask({ log })
  t.is(code, 0)
  t.deepEqual(
    codesOf(advice).toSorted(),
    ['deep-page book', 'slow-read book', 'slow-read book', 'slow-read book'],
    JSON.stringify(advice, null, 1),
  )
  t.false(JSON.stringify(advice).includes('a-secret'))
  const tried = await practice.ask({ log, tries: true })
  const [first] = tried.advice.filter(({ found }) => found.includes('"rating":"$eq"'))
  t.regex(first?.found ?? '', /took up to \d+ ms: .* For it PostgreSQL reads all 20,000 rows of `books`/)
  t.regex(first?.remedy ?? '', /^declare an index: PostgreSQL expects [\d,]+ times less work with it$/)
  const [, indexes = ''] = /indexes: \[(.*)\]$/.exec(first?.paste ?? '') ?? []
  t.true(indexes.startsWith('[title], ') && indexes.includes('[rating, shelf, title]'), indexes)

  await practice.migrated(project(indexes))
  const after = await practice.ask({ log, analyze: true })
  t.deepEqual(codesOf(after.advice).toSorted(), ['deep-page book', 'slow-read book'])
  t.regex(
    after.advice.find(each => each.code === 'slow-read')?.remedy ?? '',
    /^parts of texts want an index of kind text: `indexes: \[\{ attributes: \[title\], kind: text \}\]`/,
  )
  await practice.withDatabase(async database => {
    const list = `SELECT * FROM books WHERE rating = 500 AND shelf = ANY ('{S1}') ORDER BY title, id LIMIT 25`
    const { rows } = await run(database, `EXPLAIN ${list}`)
    t.regex(rows.flat().join('\n'), /books__rating__shelf__title__index/)
  })
})

const LIBRARY = `name: Library
server: { host: 127.0.0.1, port: "\${PORT:-1337}", slowQuery: 1ms }
database: { url: "\${DATABASE_URL:-embedded}" }
contentTypes:
  book:
    attributes: { title: string, author: { type: relation, relation: manyToOne, target: author, inversedBy: books } }
  author:
    attributes: { name: string, books: { type: relation, relation: oneToMany, target: book, mappedBy: author } }
roles: { public: { permissions: { book: [find], author: [find, findOne] } } }
`

test('slow totals, long populated lists and filters on related documents are reported with what helps', async t => {
  const practice = await openPractice(t, LIBRARY)
  await practice.withDatabase(async database => {
    const stamps = 'created_at, updated_at, published_at'
    await run(
      database,
      `INSERT INTO authors (document_id, name, ${stamps})
      SELECT 'a' || n, 'Name ' || n, now(), now(), now() FROM generate_series(1, 20000) AS n`,
    )
    await run(
      database,
      `INSERT INTO books (document_id, title, author_key, author_inverse_position, ${stamps})
      SELECT 'b' || n, 'Title ' || n, 1 + n % 5, n, now(), now(), now() FROM generate_series(1, 100000) AS n`,
    )
    await run(database, 'ANALYZE books, authors')
  })
  const line = (work: object) =>
    `${JSON.stringify({ event: 'slowWork', milliseconds: 1200, work: { contentType: 'book', start: 0, limit: 25, ...work } })}\n`
  const list = { action: 'find', total: true }
  const log = [
    list,
    { ...list, filters: { author: { name: '$eq' } } },
    { action: 'findOne', contentType: 'author', populate: { books: {} } },
    { action: 'findOne', contentType: 'author', populate: { books: { limit: 10 } } },
  ].map(line)
  const { advice } = await practice.ask({ log: log.join('') })
  t.deepEqual(codesOf(advice).toSorted(), ['long-relation author', 'slow-read book', 'slow-read book'])
  const remedyOf = (words: string) => advice.find(({ found }) => found.includes(words))?.remedy ?? ''
  t.regex(remedyOf('all documents.'), /^counting takes longest: .*withCount\]=estimate/)
  t.regex(remedyOf('`books`, which'), /GET \/api\/books\?filters\[author\]\[documentId\]=…/)
  const related = advice.find(({ found }) => found.includes('"author"'))
  t.regex(related?.remedy ?? '', /^declare an index/)
  t.regex(related?.paste ?? '', /author:\n {4}indexes: \[\[name\]\]$/)
})

test('damaged tables are errors until a migration repairs them, and unused indexes are reported', async t => {
  const practice = await openPractice(t, project('[title, rating]'))
  t.deepEqual(await practice.ask(), { code: 0, advice: [] })
  await practice.withDatabase(async database => {
    await run(database, 'ALTER TABLE books DISABLE TRIGGER USER')
    await run(database, 'CREATE INDEX by_hand ON books (title)')
    await run(
      database,
      `UPDATE pg_index SET indisvalid = false
      WHERE indexrelid = 'books__title__rating__index'::regclass`,
    )
    await run(database, 'CREATE INDEX by_hand_too ON books (shelf)')
    await run(database, 'CREATE INDEX by_hand_two ON books (shelf, rating)')
  })
  const { code, advice } = await practice.ask()
  t.is(code, 1)
  t.deepEqual(codesOf(advice), [
    'no-version books',
    'invalid-index books',
    'not-migrated database',
    'needless-index books',
  ])
  t.is(advice.at(-1)?.remedy, 'DROP INDEX "by_hand_too"')
  await practice.migrated(project('[title, rating]'))
  const repaired = await practice.ask()
  t.is(repaired.code, 0)
  t.deepEqual(
    repaired.advice.map(each => each.remedy),
    ['DROP INDEX "by_hand"', 'DROP INDEX "by_hand_too"'],
  )
})

const server = testServer()
if (server) {
  test('the examination needs no superuser', async t => {
    const practice = await openPractice(t, project('[title]'))
    const guest = `plinth_doctor_${process.pid}`
    await administer(server, `CREATE ROLE ${guest}`)
    t.teardown(() => administer(server, `DROP ROLE ${guest}`))
    const name = new URL(practice.url).pathname.slice(1)
    await administer(
      practice.url,
      `ALTER DATABASE ${name} SET role = ${guest}; GRANT SELECT ON ALL TABLES IN SCHEMA public TO ${guest}`,
    )
    t.teardown(() => administer(practice.url, `SET role = none; DROP OWNED BY ${guest}`))
    await practice.withDatabase(async database => {
      t.deepEqual((await run(database, 'SELECT current_user')).rows, [[guest]])
    })
    t.deepEqual(await practice.ask({ analyze: true, tries: true }), { code: 0, advice: [] })
  })

  test('a pool that is larger than the connection limit of its user or database is reported', async t => {
    const practice = await openPractice(t, project(''))
    const guest = `plinth_limited_${process.pid}`
    await administer(server, `CREATE ROLE ${guest} LOGIN`)
    t.teardown(() => administer(server, `DROP ROLE ${guest}`))
    await administer(practice.url, `GRANT SELECT ON ALL TABLES IN SCHEMA public TO ${guest}`)
    t.teardown(() => administer(practice.url, `DROP OWNED BY ${guest}`))
    const url = new URL(practice.url)
    url.username = guest
    const found = async () => {
      const { advice } = await practice.ask({ env: { DATABASE_URL: url.href } })
      return advice.filter(({ code }) => code === 'connections').map(each => each.found)
    }
    t.deepEqual(await found(), [])
    await administer(practice.url, `ALTER ROLE ${guest} CONNECTION LIMIT 7`)
    const wanted = 'one process of up to 10 connections, and one more, wants 11'
    t.deepEqual(await found(), [`${wanted}; the server gives this user 7`])
    await administer(practice.url, `ALTER DATABASE ${url.pathname.slice(1)} CONNECTION LIMIT 6`)
    t.deepEqual(await found(), [`${wanted}; the server gives this user 6`])
  })
}

test('slow or unsafe settings are reported in production; development reports only those that are always wrong', async t => {
  const careless = `, rateLimit: { auth: false } }
cache: { enabled: false }
auth: { jwtSecret: "${'secret'.repeat(6)}"`
  const practice = await openPractice(t, project('', careless))
  const development = await practice.ask()
  t.deepEqual([development.code, codesOf(development.advice)], [1, ['weak-secret auth.jwtSecret']])
  const { code, advice } = await practice.ask({ env: { NODE_ENV: 'production', WORKERS: '5000' } })
  t.is(code, 1)
  const anywhere = ['weak-secret auth.jwtSecret', 'no-limit server.rateLimit.auth', 'no-cache cache']
  const here = testServer() ? 'connections database.pool.max' : 'embedded database.url'
  t.deepEqual(codesOf(advice).toSorted(), [...anywhere, here].toSorted())
})

test('roles that show drafts to anonymous callers are listed with their content-types', async t => {
  const practice = await openPractice(t, project('').replace(/contentTypes:[\s\S]*/, DRAFTS))
  const { code, advice } = await practice.ask()
  t.is(code, 0)
  t.deepEqual(
    advice.map(({ code: word, about, found }) => [word, about, found]),
    [
      ['public-drafts', 'roles.public', 'anybody, without signing in reads drafts of `post`'],
      [
        'public-drafts',
        'roles.guest',
        'anybody who registers (`auth.register`) reads drafts of `post`, `page`',
      ],
    ],
  )
  await practice.migrated(
    project('').replace(/contentTypes:[\s\S]*/, DRAFTS.replaceAll(/, readDrafts|, update/g, '')),
  )
  t.deepEqual((await practice.ask()).advice, [])
})

const DRAFTS = `contentTypes:
  post: { draftAndPublish: true, attributes: { title: string } }
  page: { draftAndPublish: true, attributes: { title: string } }
  note: { attributes: { title: string } }
roles:
  public: { permissions: { post: [find, readDrafts], page: [findOne], note: [find] } }
  guest: { permissions: { post: [find, update], page: [findOne, readDrafts] } }
  editor: { permissions: { "*": "*" } }
auth: { register: { role: guest } }
`
