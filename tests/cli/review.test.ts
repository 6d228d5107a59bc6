import { execFileSync } from 'node:child_process'
import test, { type ExecutionContext } from 'ava'
import { runMigrate } from '../../tools/cli/migrate.ts'
import { type ReviewOptions, runReview } from '../../tools/cli/review/review.ts'
import { temporaryFolder } from '../harness/folder.ts'
import { projectFolder } from '../harness/project-folder.ts'
import { runSql } from '../harness/run-sql.ts'
import { run } from './run.ts'

// `plinth review`: what a change since a commit does to data, permissions and clients.

const BEFORE = `name: Shop
components:
  shop.size: { attributes: { label: string } }
  shop.colour: { attributes: { label: string } }
contentTypes:
  book:
    attributes:
      title: { type: string, maxLength: 200 }
      text: text
      kind: { type: enumeration, enum: [novel, poem, essay] }
      pages: integer
      code: string
      author: { type: relation, relation: manyToOne, target: person }
      parts: { type: dynamiczone, components: [shop.size, shop.colour] }
  person: { attributes: { name: string } }
  old: { attributes: { name: string } }
roles: { public: { permissions: { book: [find] } } }
`
const AFTER = `name: Shop
rest: { maxLimit: 50 }
components:
  shop.size: { attributes: { label: string } }
  shop.colour: { attributes: { label: string } }
contentTypes:
  book:
    pluralApiId: volumes
    attributes:
      title: { type: string, maxLength: 100, required: true, backfill: none }
      body: { type: text, renamedFrom: text }
      kind: { type: enumeration, enum: [novel, poem, letter] }
      code: { type: string, private: true }
      author: { type: relation, relation: manyToMany, target: person }
      parts: { type: dynamiczone, components: [shop.size] }
      subtitle: string
  person: { attributes: { name: text, born: { type: date } } }
  fresh: { attributes: { name: string } }
roles: { public: { permissions: { book: [find, findOne, create] } } }
`

function repository(t: ExecutionContext, before: string) {
  const folder = temporaryFolder()
  t.teardown(folder.remove)
  folder.write('project.yaml', before)
  commitAll(folder.path)
  return folder
}

function commitAll(folder: string): void {
  const git = (...words: string[]) => execFileSync('git', words, { cwd: folder, stdio: 'pipe' })
  git('init', '-q', '-b', 'main')
  git('config', 'user.email', 'ann@example.org')
  git('config', 'user.name', 'Ann')
  git('add', '.')
  git('commit', '-q', '-m', 'as it is')
}

const review = (folder: string, format: ReviewOptions['format'] = 'json', ref = 'main') =>
  run(options => runReview({ ...options, format, usesDatabase: false }, ref), { folder })

interface Finding {
  readonly level: string
  readonly message: string
  readonly location: { readonly file: string; readonly line: number } | null
}

test('each change for data, permissions, REST and GraphQL has its level and its line', async t => {
  const folder = repository(t, BEFORE)
  folder.write('project.yaml', AFTER)
  const { code, out, complaint } = await review(folder.path)
  t.is(complaint, '')
  t.is(code, 2)
  const report: Record<string, Finding[]> = JSON.parse(out)
  const rest = (report.rest ?? []).map(
    ({ level, message, location }) => `${level}: ${message} ${location?.file}:${location?.line}`,
  )
  for (const expected of [
    'risky: lists have at most 50 documents instead of 100 project.yaml:2',
    'breaking: the address /books becomes /volumes project.yaml:7',
    'breaking: `title` of `book` is required: writes without it are refused project.yaml:10',
    'risky: `title` of `book` has `maxLength` 100: writes beyond it are refused project.yaml:10',
    'breaking: `text` of `book` is called `body` project.yaml:11',
    'breaking: `kind` of `book` has no value essay any more project.yaml:12',
    'risky: `kind` of `book` may be letter, which clients do not know project.yaml:12',
    'breaking: `pages` of `book` is gone main:project.yaml:11',
    'breaking: `code` of `book` is private: no answer has it, no filter may use it project.yaml:13',
    'breaking: `author` of `book` is a list now project.yaml:14',
    'breaking: `parts` of `book` does not take shop.colour any more project.yaml:15',
    'safe: `subtitle` of `book` is new project.yaml:16',
    'safe: `name` of `person` is `text` instead of `string` project.yaml:17',
    'safe: `born` of `person` is new project.yaml:17',
    'breaking: `old` is gone main:project.yaml:16',
    'safe: `fresh` is new project.yaml:18',
  ])
    t.true(rest.includes(expected), `${expected}\n\n${rest.join('\n')}`)
  t.is(rest.length, 16)
  t.true(
    report.permissions?.some(({ level, message }) => level === 'risky' && /public may now/.test(message)),
  )
  t.true(
    report.graphql?.some(
      ({ level, message }) => level === 'breaking' && /Book\.pages was removed/.test(message),
    ),
  )
  t.deepEqual(
    report.graphql?.filter(({ location }) => !location).map(({ message }) => message),
    [],
  )
  const removed = report.graphql?.find(({ message }) => /Book\.text was removed/.test(message))
  t.is(removed?.location?.line, 11, 'a renamed attribute is shown where it is declared now')
  t.true(report.data?.some(({ level }) => level === 'breaking'))
  t.true(report.data?.some(({ level, message }) => level === 'safe' && /"subtitle"/.test(message)))
  const data = (report.data ?? []).map(({ level, message }) => `${level}: ${message}`).join('\n')
  t.regex(data, /risky: if there are such rows: .*kind.* values that are in some rows/)
  t.regex(data, /breaking: column volumes\.pages is no longer in the project: a start is refused/)
  t.regex(data, /risky: if there are such rows: .*shop.colour/)
  t.notRegex(data, /it is empty and|\{rows\}|\{values\}/)
  t.is(Object(report).rows, 'assumed')
  t.is(report.types?.length, 1)
})

test('a removed role is reported even if it had no permissions, because users may have it', async t => {
  const folder = repository(t, BEFORE.replace('roles: {', 'roles: { editor: {},'))
  folder.write('project.yaml', BEFORE)
  const { out, code } = await review(folder.path)
  const [finding] = JSON.parse(out).data
  t.is(finding.level, 'risky')
  t.regex(finding.message, /^if users have it: role `editor` is no longer in the project: put it back/)
  t.is(code, 2)
})

test('with the database, files of migrations/ may give the users of a removed role another one', async t => {
  const { folder, url } = await projectFolder(t)
  const project = (roles: string) =>
    `name: Shop\ndatabase: { url: "\${DATABASE_URL:-embedded}" }\nroles: { author: {}, ${roles} }\n`
  folder.write('project.yaml', project('editor: {}'))
  commitAll(folder.path)
  const within = { folder: folder.path, env: { DATABASE_URL: url } }
  const migrated = await run(
    options => runMigrate({ ...options, json: false, allowDestructive: false }),
    within,
  )
  t.is(migrated.code, 0, migrated.complaint)
  const stamps = 'document_id, created_at, updated_at, published_at'
  await runSql(
    folder.path,
    url,
    `WITH r AS (INSERT INTO plinth_roles (${stamps}, name, type) VALUES ('a', now(), now(), now(), 'A', 'author'), ('e', now(), now(), now(), 'E', 'editor') RETURNING id, type)
      INSERT INTO plinth_users (${stamps}, username, email, role_key) SELECT 'ann', now(), now(), now(), 'ann', 'ann@example.org', id FROM r WHERE type = 'editor'`,
  )
  folder.write('project.yaml', project(''))
  const data = async () => {
    const { out } = await run(
      options => runReview({ ...options, format: 'json', usesDatabase: true }, 'main'),
      within,
    )
    return JSON.parse(out).data.map(({ level, message }: Finding) => `${level}: ${message}`)
  }
  const [refused, ...others] = await data()
  t.regex(refused, /^breaking: refused: role `editor` is no longer in the project, but 1 user has it/)
  t.deepEqual(others, [])
  folder.write(
    'migrations/2026-01-01.before.sql',
    "UPDATE plinth_users SET role_key = (SELECT id FROM plinth_roles WHERE type = 'author')",
  )
  t.deepEqual(await data(), ['safe: run migrations/2026-01-01.before.sql: written by hand (safe, expand)'])
})

test('a safe change ends with 0, an unchanged project has nothing to report', async t => {
  const folder = repository(t, BEFORE)
  const same = await review(folder.path, 'text')
  t.is(same.out, 'Since main, nothing has changed for data, permissions and clients.\n')
  t.is(same.code, 0)
  folder.write(
    'project.yaml',
    BEFORE.replace('name: string } }\n  old', 'name: string, born: date } }\n  old'),
  )
  const { code, out } = await review(folder.path, 'markdown')
  t.is(code, 0, out)
  t.regex(out, /^## Plinth review\n\nSince main: 0 breaking, 0 risky, \d+ safe\.\n/)
  t.regex(out, /\n### Data\n\nWithout a database: .* assumes rows in each of them\. .*\n\n- 🟢/)
  t.regex(out, /\n### REST\n\n- 🟢 \*\*safe\*\*: `born` of `person` is new \(`project\.yaml:15:41`\)\n/)
})

test('what cannot be compared is refused with the reason', async t => {
  const folder = repository(t, BEFORE)
  t.regex(
    (await review(folder.path, 'text', 'mian')).complaint,
    /git knows no commit `mian`: did you mean `main`/,
  )
  folder.write('project.yaml', 'name: Shop\ncontentTypes: { a: { atributes: {} } }\n')
  const { code, complaint } = await review(folder.path)
  t.is(code, 1)
  t.regex(complaint, /unknown key `atributes`/)
})

const CODED = `name: Shop
graphql: { endpoints: { /graphql: nested } }
contentTypes: { book: { attributes: { title: string } } }
roles: { public: { permissions: { book: [find, create] } } }
routesConfig: { book.create: { policies: [only-reads] } }
`
const SEARCH = `import { defineExtension } from 'plinth'
import { answer } from '../lib/answer.ts'
export default defineExtension({
  register({ rest, graphql }) {
    rest.route('GET', '/search', answer, { auth: false })
    rest.route('GET', '/count', answer)
    rest.route('POST', '/books', (_, next) => next(), { replaces: true })
    graphql.use({ typeDefs: 'extend type Query { hits: Int old: String }', resolvers: { Query: { hits: () => 1 } } })
  },
})
`
const POLICY = `import { definePolicy } from 'plinth'
export default definePolicy(() => true)
`

test('routes, the GraphQL of extensions, and the files that decide on requests are compared', async t => {
  const folder = repository(t, CODED)
  folder.write('extensions/search.ts', SEARCH)
  folder.write('lib/answer.ts', 'export const answer = () => ({ data: 1 })\n')
  folder.write('policies/only-reads.ts', POLICY)
  const git = (...words: string[]) => execFileSync('git', words, { cwd: folder.path, stdio: 'pipe' })
  git('add', '.')
  git('commit', '-q', '-m', 'code')
  t.is((await review(folder.path, 'text')).code, 0, 'an unchanged project')

  folder.write(
    'extensions/search.ts',
    SEARCH.replace("rest.route('GET', '/count', answer)\n", "rest.route('GET', '/sum', answer)\n")
      .replace('{ auth: false }', "{ auth: { scope: ['api::book.book.find'] } }")
      .replace("    rest.route('POST', '/books', (_, next) => next(), { replaces: true })\n", '')
      .replace('old: String', 'fresh: String')
      .replace('hits: Int ', 'hits: String '),
  )
  folder.write('lib/answer.ts', '// Counts.\nexport const answer = () => ({ data: 2 })\n')
  folder.write('policies/only-reads.ts', POLICY.replace('true', 'false'))
  folder.write(
    'project.yaml',
    CODED.replace('policies: [only-reads]', 'policies: [only-reads, { name: only-reads }]'),
  )
  const { code, out, complaint } = await review(folder.path)
  t.is(complaint, '')
  t.is(code, 2)
  const report: Record<string, Finding[]> = JSON.parse(out)
  const lines = (findings: readonly Finding[] = []) =>
    findings
      .map(({ level, message, location }) => `${level}: ${message} ${location?.file}:${location?.line}`)
      .toSorted()
  t.deepEqual(lines(report.rest), [
    'breaking: the route GET /count is gone main:extensions/search.ts:6',
    'risky: `book.create`: its policies are `only-reads`, `only-reads` instead of `only-reads` project.yaml:5',
    'risky: extensions/search.ts has changed, which decides on the route GET /search, the route GET /sum extensions/search.ts:5',
    'risky: lib/answer.ts has changed, which decides on what imports it lib/answer.ts:1',
    'risky: policies/only-reads.ts has changed, which decides on book.create policies/only-reads.ts:2',
    'risky: the route GET /search: it requires `book.find` instead of `everybody` extensions/search.ts:5',
    'risky: the route POST /books does not replace the generated one any more main:extensions/search.ts:7',
    'safe: the route GET /sum is new extensions/search.ts:6',
  ])
  t.deepEqual(lines(report.graphql), [
    'breaking: /graphql: Query.hits changed type from Int to String. extensions/search.ts:7',
    'breaking: /graphql: Query.old was removed. main:extensions/search.ts:8',
    'risky: extensions/search.ts has changed, which decides on its part of the schema extensions/search.ts:5',
    'risky: lib/answer.ts has changed, which decides on what imports it lib/answer.ts:1',
    'safe: /graphql: Query.fresh is new. extensions/search.ts:7',
  ])
})

test('code that cannot be loaded is a finding, and the rest is compared', async t => {
  const folder = repository(t, CODED.replace(/routesConfig.*\n/, ''))
  folder.write('extensions/search.ts', "import 'no-such-package'\n")
  folder.write('project.yaml', CODED.replace(/routesConfig.*\n/, '').replace('title: string', 'title: text'))
  const { code, out } = await review(folder.path, 'text')
  t.is(code, 2)
  t.regex(out, /risky +the code of this version cannot be loaded, [\s\S]*no-such-package/)
  t.regex(out, /safe +`title` of `book` is `text` instead of `string`/)
})
