import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { compileApp } from '../../core/app/compile-app.ts'
import { fillDatabase } from '../../core/app/prepare-database.ts'
import type { Database } from '../../core/database/database.ts'
import { openDatabase } from '../../core/database/open-database.ts'
import { openLocalStorage } from '../../core/media/storage/open-storage.ts'
import { migrate } from '../../core/migrate/migrate.ts'
import { runRoles, runWho } from '../../tools/cli/roles/roles.ts'
import { type ExplainWords, runExplain } from '../../tools/cli/roles/roles-explain.ts'
import { runExplainRequest } from '../../tools/cli/roles/roles-request.ts'
import { layEmbedded } from '../harness/embedded-files.ts'
import { temporaryFolder } from '../harness/folder.ts'
import { freshDatabase } from '../harness/test-database.ts'
import { golden, type RunOptions, run } from './run.ts'

/** The words of a command line. */
function explain(line: string, options: RunOptions & { isUser?: boolean } = {}) {
  const [who = '', action = '', type = '', field] = line.split(' ')
  const words: ExplainWords = { who, action, type, field, isUser: options.isUser ?? false }
  return run(options => runExplain(options, words), options)
}

const GOLDEN: readonly (readonly [title: string, line: string])[] = [
  ['an inherited permission with a condition, and the SQL that it becomes', 'editor find article'],
  ['a permission on some fields', 'public find critic'],
  ['a private attribute', 'public find critic phone'],
  ['an attribute outside fields', 'public findOne critic articles'],
  ['an attribute over a relation', 'public find article author.name'],
  ['an attribute of a document out of fields', 'public find article author.portrait.url'],
  [
    'an attribute in a dynamic zone, over a relation that it holds',
    'public find homepage sections.blocks.pick.restaurant.name',
  ],
  ['an attribute of a component that is written', 'editor create article seo.title'],
  ['an attribute of a document that is linked, not written', 'editor update article author.name'],
  ['drafts, which find does not show', 'public readDrafts restaurant'],
  ['a permission that is taken away', 'editor readDrafts article'],
  ['a permission on every type', 'editor update dish'],
  ['what nothing grants', 'authenticated delete article'],
  ['what is open to all', 'public login auth'],
  ['an API token', 'website find restaurant'],
  ['a route whose policy decides, too', 'authenticated update tip'],
]

for (const [title, line] of GOLDEN) {
  test(`${title} is explained by its line`, async t => {
    const { code, out, complaint } = await explain(line)
    t.is(complaint, '')
    t.is(out, golden(`explain-${line.replaceAll(' ', '-')}.txt`, out))
    t.is(code, 0)
    t.regex(out, / project\.yaml:\d+:\d+\n/)
    t.deepEqual(
      out.split('\n').filter(each => each.length > 100 && !each.includes('SELECT')),
      [],
    )
  })
}

test('the explanation is printed as JSON on one line', async t => {
  const { out } = await explain('public find article author', { form: 'json' })
  t.is(out, golden('explain-public-find-article-author.json.txt', out))
  t.is(out.trimEnd().split('\n').length, 1)
  const reported = JSON.parse(out)
  t.deepEqual(reported.where, { author: { name: { $notNull: true } } })
  t.true(reported.sql.text.includes('"name" IS NOT NULL'))
})

test('unknown words are refused with the nearest known ones', async t => {
  const complaintOf = async (line: string) => {
    const { code, out, complaint } = await explain(line)
    t.is(code, 2, line)
    t.is(out, '')
    return complaint.trimEnd()
  }
  t.is(await complaintOf('public find articel'), 'unknown type `articel`: did you mean `article`?')
  t.is(await complaintOf('public fnid article'), 'unknown action of `article` `fnid`: did you mean `find`?')
  t.is(
    await complaintOf('public find article titel'),
    'unknown field of `article` `titel`: did you mean `title`?',
  )
  t.is(
    await complaintOf('public find article author.nmae'),
    'unknown field of `critic` `nmae`: did you mean `name`?',
  )
  t.is(
    await complaintOf('public find restaurant hours.open'),
    'unknown field of `guide.hours` `open`: did you mean `opens`?',
  )
  t.is(
    await complaintOf('public find article body.text'),
    'unknown component of `body` `text`: one of `blocks.text`, `blocks.quote`, `blocks.pick`',
  )
  t.is(
    await complaintOf('public find article body.blocks.quote.txet'),
    'unknown field of `blocks.quote` `txet`: did you mean `text`?',
  )
  t.is(
    await complaintOf('public find article cover.urll'),
    'unknown field of `upload` `urll`: did you mean `url`?',
  )
  t.is(
    await complaintOf('public find article title.name'),
    '`title` of `article` is one value (string), which has no fields',
  )
  t.is(
    await complaintOf('public publish dish'),
    '`publish` means nothing for `dish`, which has no `draftAndPublish`',
  )
  for (const path of ['.', 'author.', 'author..name'])
    t.is(
      await complaintOf(`public find article ${path}`),
      `\`${path}\` has an empty name: a field is one attribute, or a path such as \`author.name\``,
    )
  t.is(await complaintOf('public delete dish name'), '`delete` of `dish` has no fields to be asked for')
  t.regex(
    await complaintOf('publc find dish'),
    /^unknown role, API token or user `publc`: did you mean `public`\?/,
  )
})

const PROJECT = `
name: Explained
database: { url: "\${DATABASE_URL}" }
contentTypes:
  team:
    attributes: { name: string }
  report:
    draftAndPublish: true
    attributes:
      title: string
      notes: { type: text, private: true }
      number: { type: integer, writable: false }
      owner: { type: relation, relation: manyToOne, target: user }
      team: { type: relation, relation: manyToOne, target: team }
user: { attributes: { team: { type: relation, relation: manyToOne, target: team }, level: integer, nickname: string } }
roles:
  member:
    permissions:
      report:
        find: { where: { $or: [{ owner: { id: $user.id } }, { title: { $contains: $user.nickname } }] } }
        create: { set: { owner: $user.id } }
        update: { where: { owner: { id: { $eq: $user.id } } }, fields: ["!title"] }
  lead:
    extends: member
    permissions:
      team: [find]
      report: { find: { where: { team: { id: { $in: [$user.team.id, 77] } } } } }
`
const USERS = `
- { username: ann, email: ann@example.org, password: secret-of-ann, confirmed: true, role: member, nickname: north }
- { username: bob, email: bob@example.org, password: secret-of-bob, confirmed: true, role: lead }
- { username: cat, email: cat@example.org, password: secret-of-cat, confirmed: true, blocked: true, role: member }
- { username: lead, email: dan@example.org, password: secret-of-dan, confirmed: true }
`
const REPORTS = `
- { documentId: own, title: One, owner: ann }
- { documentId: northern, title: Far north, owner: bob }
- { documentId: other, title: Two, owner: bob }
`

test('without a user, $user.… appears by name among the parameters', async t => {
  const options = projectOf(t)
  const { out } = await explain('member find report', options)
  t.is(out, golden('explain-user-condition.txt', out))
  t.true(out.includes('$1 = $user.id\n    $2 = "%$user.nickname%" ($user.nickname)'), out)
  const { out: lead } = await explain('lead find report', options)
  t.true(lead.includes('= ["$user.team.id",77] ($user.team.id)'), lead)
})

test('writable attributes, server-set values and the condition of a write are listed', async t => {
  const options = projectOf(t)
  const { out: update } = await explain('lead update report', options)
  t.is(update, golden('explain-update.txt', update))
  const { out: create } = await explain('member create report', options)
  t.is(create, golden('explain-create.txt', create))
  const { out: owner } = await explain('member create report owner', options)
  t.regex(owner, /^No: .*\n`owner`: the server sets `owner` itself\./)
  const { out: team } = await explain('member update report team', options)
  t.regex(team, /^No: .*\n`team`: it leads to `team`, of which `find` is not granted\./)
  t.regex((await explain('lead update report team', options)).out, /^Yes/)
  const { out: publish } = await explain('member publish report', options)
  t.regex(publish, /`update` implies `publish`/)
  t.true(publish.includes('SQL of the condition of publish'))
})

test('the condition for drafts is the condition of the read that includes them', async t => {
  const options = projectOf(t)
  const { out } = await explain('lead readDrafts report', options)
  t.is(out, golden('explain-drafts.txt', out))
  t.true(out.includes('by find     yes where { team: { id: { $in: [$user.team.id, 77] } } } (project.yaml:'))
  t.true(out.includes('by findOne  no (project.yaml:'))
  t.true(out.includes('"status" = \'draft\''))
})

test('settings of a route are shown next to permissions of roles, in explanations and tables', async t => {
  const options = projectOf(t)
  const routes = 'routesConfig:\n  team.find: { auth: false }\n  report.update: { policies: [is-owner] }\n'
  options.write('project.yaml', PROJECT + routes)
  const line = PROJECT.split('\n').length + 1
  const { out: find } = await explain('public find team', options)
  t.true(find.includes(`over REST   open to everybody, whatever roles say (project.yaml:${line}:3)\n`), find)
  const { out: update } = await explain('member update report', options)
  t.true(update.includes('the policies is-owner decide, too'), update)
  const { out: publish } = await explain('member publish report', options)
  t.true(publish.includes('the policies is-owner decide, too'), publish)
  const { out } = await run(options => runRoles(options, { roles: [], types: [] }), options)
  t.true(
    out.includes(`\nroute team.find, whatever roles say: open to everybody (project.yaml:${line}:3)\n`),
    out,
  )
})

test('--user reads the role and the values of $user from the database, and writes nothing to it', async t => {
  const { options, database } = await filled(t)
  const before = await contentOf(database)
  const { out, complaint } = await explain('ANN@example.org find report', { ...options, form: 'json' })
  t.regex(complaint, /^Database: .* \(development\)\n$/)
  const reported = JSON.parse(out)
  t.is(reported.role, 'member')
  t.deepEqual(reported.user.values, { '$user.id': 1, '$user.nickname': 'north' })
  t.false(out.includes('secret-of-ann'))
  const values = reported.sql.parameters.map((parameter: { value: unknown }) => parameter.value)
  const { rows } = await database.run({ text: reported.sql.text, values })
  const found = JSON.parse(String(rows[0]?.[0])) as { documentId: string }[]
  t.deepEqual(found.map(({ documentId }) => documentId).toSorted(), ['northern', 'own'])
  t.deepEqual(
    reported.sql.parameters.map((parameter: { from: string | null }) => parameter.from).filter(Boolean),
    ['$user.id', '$user.nickname'],
  )
  t.deepEqual(await contentOf(database), before)
})

test('a value that a user lacks makes the condition false; a blocked user is refused everything', async t => {
  const { options } = await filled(t)
  const { out: bob } = await explain('bob find report', options)
  t.regex(bob, /^Yes, in part: bob \(lead\) may find report/)
  t.regex(bob, /\$user\.team\.id has no value, so no document meets the condition/)
  t.regex(bob, /WHERE false/)
  const { out: cat } = await explain('cat find report', options)
  t.regex(cat, /^No: cat \(member\) may not find report\.\nEvery request of this user is refused/)
})

test('a name that is both a role and a user means the role unless --user is given; an unknown name is refused', async t => {
  const { options } = await filled(t)
  t.regex((await explain('lead find team', options)).out, /^Yes: role lead/)
  t.regex((await explain('lead find team', { ...options, isUser: true })).out, /^No: lead \(authenticated\)/)
  const { code, complaint } = await explain('eve@example.org find team', options)
  t.is(code, 2)
  t.regex(complaint, /^Database: .*\nunknown role, API token or user `eve@example\.org`/)
})

test('--user without a database reports an unknown user, and creates no database', async t => {
  const options = projectOf(t, 'embedded')
  const { code, complaint } = await explain('ann@example.org find team', options)
  t.is(code, 2)
  t.regex(complaint, /was never started/)
  t.regex((await explain('ann@example.org find team', options)).complaint, /was never started/)
})

function projectOf(t: ExecutionContext, url = 'embedded') {
  const folder = temporaryFolder()
  t.teardown(() => folder.remove())
  folder.write('project.yaml', PROJECT)
  return { folder: folder.path, env: { DATABASE_URL: url }, write: folder.write }
}

/** The project in its own database on the server, or with an embedded one, which one process opens at a time. */
async function filled(t: ExecutionContext) {
  const fresh = await freshDatabase()
  t.teardown(() => fresh.drop())
  const options = projectOf(t, fresh.url)
  if (fresh.url === 'embedded') await layEmbedded(options.folder)
  options.write('content/users.yaml', USERS)
  options.write('content/reports.yaml', REPORTS)
  const compiled = await compileApp(options.folder, options.env)
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.reasons))
  const { project, storage } = compiled.value
  const use = async <Value>(work: (database: Database) => Promise<Value>): Promise<Value> => {
    const opened = await openDatabase(project.settings.database, { root: project.root, observe: () => {} })
    if (!opened.ok) throw new Error(JSON.stringify(opened.reasons))
    return work(opened.value).finally(() => opened.value.close())
  }
  await use(async database => {
    await migrate(database, storage.tables)
    const result = await fillDatabase(compiled.value, database, openLocalStorage(options.folder))
    if (!result.ok) throw new Error(JSON.stringify(result.reasons))
  })
  const run: Database['run'] = statement => use(database => database.run(statement))
  return { options, database: { run } }
}

const contentOf = async ({ run }: Pick<Database, 'run'>) =>
  (await run({ text: 'SELECT to_jsonb(u)::text FROM plinth_users u ORDER BY id', values: [] })).rows

/** The text for a request to the example. */
const explainRequest = (request: string, who: string, options: RunOptions & { body?: string } = {}) =>
  run(terms => runExplainRequest(terms, { request, who, isUser: false, body: options.body }), {
    ...options,
    folder: options.folder ?? ROOT,
  })

const ROOT = join(import.meta.dirname, '..', '..')

test('a request is explained by the answer of the server, its permission and the line', async t => {
  const denied = await explainRequest('POST /api/tips', 'public')
  t.is(denied.code, 0)
  t.regex(denied.out, /^No: role public may not POST \/api\/tips\.\nThe server answers 403: Forbidden\.\n/)
  t.regex(
    denied.out.replaceAll('\n', ' '),
    /add `create` to `roles\.public\.permissions\.tip` in project\.yaml/,
  )
  t.regex(denied.out, /Project code decides, too: the policy plan-limit\./)
  const partly = await explainRequest('GET /api/articles?populate=author', 'public')
  t.regex(partly.out, /^Yes, in part: role public may GET/)
  t.regex((await explainRequest('GET /api/articles?filters[author][phone]=1', 'public')).out, /answers 400/)
  t.regex((await explainRequest('get /api/nowhere', 'editor')).out, /No route has this method and path/)
  t.regex((await explainRequest('DELETE /api/upload/files/3', 'editor')).out, /^Yes: role editor/)
  const graphql = {
    body: JSON.stringify({ query: 'mutation { deleteDish(documentId: "a") { documentId } }' }),
  }
  const json = await explainRequest('POST /graphql', 'editor', { ...graphql, form: 'json' })
  t.like(JSON.parse(json.out), { request: 'POST /graphql', route: 'graphql' })
  const own = { body: JSON.stringify({ query: '{ me { id } }' }) }
  t.regex((await explainRequest('POST /graphql', 'editor', own)).out, /^Yes: role editor may POST/)
})

const CONDITIONS = `
name: Conditions
contentTypes:
  author: { attributes: { name: string } }
  article:
    draftAndPublish: true
    attributes:
      title: string
      author: { type: relation, relation: manyToOne, target: author }
roles:
  public:
    permissions:
      author: { find: { where: { name: { $ne: Eve } } } }
      article:
        find: true
        update: true
        publish: { where: { title: { $ne: secret } } }
        readDrafts: { where: { title: { $startsWith: D } } }
  reader: { permissions: { article: [find, readDrafts] } }
`

test('a request is explained with the conditions on drafts, on publishing and on related documents', async t => {
  const folder = temporaryFolder()
  t.teardown(() => folder.remove())
  folder.write('project.yaml', CONDITIONS)
  const options = { folder: folder.path }
  const drafts = await explainRequest('GET /api/articles?status=draft', 'public', options)
  t.regex(drafts.out, /^Yes, in part: role public may GET /)
  t.regex(
    drafts.out.replaceAll('\n', ' '),
    /The condition of `readDrafts` of article applies: \{ title: \{ \$startsWith: D \} \} \(project\.yaml:18:\d+\)\./,
  )
  const conditionsOf = async (request: string, who = 'public') => {
    const { out } = await explainRequest(request, who, { ...options, form: 'json' })
    return JSON.parse(out).conditions.map(
      ({ subject, action }: Record<string, string>) => `${subject}.${action}`,
    )
  }
  t.deepEqual(await conditionsOf('GET /api/articles'), [])
  t.deepEqual(await conditionsOf('GET /api/articles?status=draft', 'reader'), [])
  t.deepEqual(await conditionsOf('GET /api/articles?populate=author'), ['author.find'])
  t.deepEqual(await conditionsOf('GET /api/articles?filters[author][name]=Ann'), ['author.find'])
  t.deepEqual(await conditionsOf('GET /api/articles?publicationFilter=modified'), ['article.readDrafts'])
  t.deepEqual((await conditionsOf('PUT /api/articles/a')).toSorted(), [
    'article.publish',
    'article.readDrafts',
  ])
  t.deepEqual(await conditionsOf('GET /api/authors'), [])
  t.regex((await explainRequest('GET /api/articles', 'public', options)).out, /^Yes: role public/)
  t.regex((await explainRequest('GET /api/articles?populate=author', 'public', options)).out, /^Yes, in part/)
})

test('a request or a caller that does not exist is refused with what was expected', async t => {
  for (const request of ['', 'POST', 'FETCH /api/tips', 'GET api/tips', 'GET /api/tips now']) {
    const { code, complaint } = await explainRequest(request, 'public')
    t.is(code, 2)
    t.regex(complaint, /is no request: expected a method and a path, such as `POST \/api\/reviews`/)
  }
  t.regex(
    (await explainRequest('GET /api/tips', 'edtor')).complaint,
    /unknown role, API token or user `edtor`/,
  )
  t.is(
    (await explainRequest('POST /api/tips', 'public', { body: '{' })).complaint,
    '--body is not valid JSON\n',
  )
})

test('the roles that may do something are listed with their lines and restrictions', async t => {
  const who = (action: string, type: string, form: 'text' | 'json' = 'text') =>
    run(options => runWho(options, { action, type }), { form })
  const { out } = await who('find', 'critic')
  t.regex(
    out,
    /^role public +project\.yaml:\d+:\d+ +fields \[name, bio\]\nrole authenticated .*inherited from public; fields/,
  )
  const listed = JSON.parse((await who('find', 'critic', 'json')).out)
  t.deepEqual(listed.holders.map(({ key }: { key: string }) => key).slice(0, 2), ['public', 'authenticated'])
  t.regex((await who('update', 'tip')).out, /role authenticated/)
  t.regex((await who('find', 'critc')).complaint, /unknown type `critc`.*`critic`/)
})

const OWN = `
name: Own
contentTypes: {}
roles:
  public: { permissions: { users: [me], auth: "*" } }
  member: { extends: public }
apiTokens:
  robot: { type: full-access, secret: robot-robot-robot-robot }
`

test('what concerns the own user is refused to requests without one, whatever is granted', async t => {
  const folder = temporaryFolder()
  t.teardown(() => folder.remove())
  folder.write('project.yaml', OWN)
  for (const [question, what] of [
    ['me users', '`me` of `users`'],
    ['changePassword auth', '`changePassword` of `auth`'],
  ]) {
    const ask = async (who: string) =>
      JSON.parse((await explain(`${who} ${question}`, { folder: folder.path, form: 'json' })).out)
    const because = `${what} concerns the caller's own user, and`
    t.like(await ask('robot'), { allowed: false, reason: `${because} an API token has none.` })
    t.like(await ask('public'), { allowed: false, reason: `${because} a request without a token has none.` })
    t.like(await ask('member'), { allowed: true, granted: true })
  }
})
