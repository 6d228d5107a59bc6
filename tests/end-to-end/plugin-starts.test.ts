import test, { type ExecutionContext } from 'ava'
import { layEmbedded } from '../harness/embedded-files.ts'
import { temporaryFolder } from '../harness/folder.ts'
import { freshDatabase } from '../harness/test-database.ts'
import { runToEnd } from './run-to-end.ts'

// Faults of extensions that prevent a start: one clear sentence, exit code 1.

const PROJECT = `name: Notes
server: { host: "\${HOST:-127.0.0.1}", port: "\${PORT:-1393}" }
database: { url: "\${DATABASE_URL:-embedded}" }
contentTypes: { note: { attributes: { text: string } } }
`

async function refused(t: ExecutionContext, extensions: Readonly<Record<string, string>>): Promise<string> {
  const folder = temporaryFolder()
  t.teardown(folder.remove)
  folder.write('project.yaml', PROJECT)
  for (const [name, body] of Object.entries(extensions)) {
    const text = `import { defineExtension } from 'plinth'\nexport default defineExtension({ ${body} })\n`
    folder.write(`extensions/${name}.ts`, text)
  }
  const database = await freshDatabase()
  t.teardown(database.drop)
  if (database.url === 'embedded') await layEmbedded(folder.path)
  const { code, output } = await runToEnd(folder.path, { DATABASE_URL: database.url })
  t.is(code, 1, output)
  t.notRegex(output, /\n\s+at .*:\d+/, 'no stack is shown')
  return output
}

test.serial('two routes with the same method and path are both reported, and nothing starts', async t => {
  const output = await refused(t, {
    first:
      "register({ rest }) { rest.route('GET', '/things/:id', () => 1); rest.route('GET', '/notes', () => 1) }",
    second:
      "register({ rest }) { rest.route('GET', '/Things/:name', () => 2); rest.route('PATCH', '/notes', () => 1) }",
  })
  t.is(
    output.trim(),
    [
      'extensions/first: the route GET /notes is there already: /notes of api::note.note. Set replaces: true to take its place, and call next() for what it does (at extensions/first.ts:2)',
      'extensions/second: the route GET /Things/:name is there already: /things/:id of extensions/first.ts:2 (at extensions/second.ts:2)',
    ].join('\n\n'),
  )
})

test.serial('unknown names in an extension are reported', async t => {
  const output = await refused(t, {
    policy: "register({ rest }) { rest.route('GET', '/a', () => 1, { policies: ['nowhere'] }) }",
    scope:
      "register({ rest }) { rest.route('GET', '/b', () => 1, { auth: { scope: ['api::note.note.fnd'] } }) }",
    event: "register({ documents }) { documents.on('note.craete', () => {}) }",
    path: "register({ rest }) { rest.route('GET', 'b c', () => 1) }",
    early: "register({ app }) { app.documents('note') }",
    fails: "async register() { throw new Error('no licence') }",
  })
  t.is(
    output.trim(),
    [
      'extensions/early could not register: app.documents can be used from bootstrap on: before, there is no database (at extensions/early.ts:2)',
      'extensions/event could not register: unknown event `note.craete`: did you mean `note.create`? (at extensions/event.ts:2)',
      'extensions/fails could not register: no licence (at extensions/fails.ts:2)',
      'extensions/path could not register: `b c` is no path such as /restaurants/:documentId/menu (at extensions/path.ts:2)',
      'extensions/policy could not register: there is no policy `nowhere` (at extensions/policy.ts:2)',
      'extensions/scope could not register: unknown permission `api::note.note.fnd`: did you mean `api::note.note.find`? (at extensions/scope.ts:2)',
    ].join('\n\n'),
  )
})

test.serial('an extension that fails to start prevents the start of the server', async t => {
  const output = await refused(t, { mailing: "async bootstrap() { throw new Error('no mail server') }" })
  t.is(output.trim(), 'extensions/mailing could not start: no mail server (at extensions/mailing.ts:2)')
  const foreign = await refused(t, { foreign: 'bootstrap({ strapi }: never) { console.log(strapi) }' })
  t.is(
    foreign.trim(),
    'extensions/foreign could not start: `bootstrap(…)` has no `strapi`: one of `app` (at extensions/foreign.ts:2)',
  )
})

test.serial('a promise that register does not await is reported with its place', async t => {
  const folder = temporaryFolder()
  t.teardown(folder.remove)
  folder.write('project.yaml', PROJECT)
  folder.write(
    'extensions/own.ts',
    `import { defineExtension } from 'plinth'
const later = async () => { throw new Error('forgotten') }
export default defineExtension({ register() { void later() }, bootstrap() { throw new Error('no start') } })
`,
  )
  const checked = await runToEnd(folder.path, {}, 'check')
  t.deepEqual(checked, { code: 1, output: '' })
  const database = await freshDatabase()
  t.teardown(database.drop)
  if (database.url === 'embedded') await layEmbedded(folder.path)
  const started = await runToEnd(folder.path, { DATABASE_URL: database.url })
  t.is(started.code, 1)
  t.is(
    started.output.trim(),
    'Unhandled failure (a promise without await?): forgotten (at extensions/own.ts:2)\nextensions/own could not start: no start (at extensions/own.ts:3)',
  )
})
