import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import test from 'ava'
import { temporaryFolder } from '../harness/folder.ts'
import { type Server, startServer } from '../harness/server.ts'

// Outside of production a saved file takes effect without a restart, and without a request that fails.

const project = (attributes: string, more = '') => `name: Notes
server: { host: "\${HOST:-127.0.0.1}", port: "\${PORT:-1393}" }
database: { url: "\${DATABASE_URL:-embedded}" }
include: [types/*.yaml]
contentTypes: { note: { attributes: { ${attributes} } } }
roles: { public: { permissions: { note: [find], tag: [find] } } }
routesConfig: { note.find: { policies: [open] } }
${more}`

const TAG = 'contentTypes: { tag: { attributes: { word: string } } }\n'

const policy = (body: string) =>
  `import { definePolicy } from 'plinth'\nimport { isOpen } from '../lib/is-open.ts'\nexport default definePolicy(() => ${body})\n`

/** Answers its own version, on /slow once the version was let go; says when it begins and ends. */
const extension = (version: string) => `import { defineExtension } from 'plinth'
const gates = (globalThis.gates ??= {})
const opened = new Promise(resolve => { gates['${version}'] = resolve })
export default defineExtension({
  register({ rest, app }) {
    rest.route('GET', '/version', () => ({ version: '${version}' }), { auth: false })
    rest.route('GET', '/slow', async () => { app.log.info('waits ${version}'); await opened; return { version: '${version}' } }, { auth: false })
    rest.route('GET', '/let-go/:version', ({ args }) => { gates[args.version](); return {} }, { auth: false })
  },
  bootstrap: ({ app }) => app.log.info('begins ${version}'),
  destroy: ({ app }) => app.log.info('ends ${version}'),
})
`

const folder = temporaryFolder()
let server: Server

test.before(async () => {
  folder.write('project.yaml', project('text: string'))
  folder.write('types/tag.yaml', TAG)
  folder.write('policies/open.ts', policy('isOpen'))
  folder.write('lib/is-open.ts', 'export const isOpen: boolean = true\n')
  folder.write('extensions/version.ts', extension('one'))
  folder.write('content/notes.yaml', '- { documentId: first, text: one }\n')
  server = await startServer({ project: folder.path })
})
test.after.always(async () => {
  await server?.stop()
  folder.remove()
})

/** Saves a file like many editors: a new file replaces the old one. */
function save(name: string, text: string): void {
  const draft = join(folder.path, `.${name.replaceAll('/', '-')}.draft`)
  writeFileSync(draft, text)
  renameSync(draft, join(folder.path, name))
}

async function until(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 1_000; tries++) {
    if (await isSo()) return
    await pause(30)
  }
  throw new Error(`still not so: ${what}\n${server.log()}`)
}

const answers = (path: string, status: number, body?: unknown) =>
  until(`${path} answers ${status} ${JSON.stringify(body)}`, async () => {
    const answer = await server.get(path)
    const isSame = body === undefined || JSON.stringify(answer.body) === JSON.stringify(body)
    return answer.status === status && isSame
  })

/** The log lines since the test began. */
const news = () => server.log().slice(begun)
let begun = 0
test.beforeEach(() => {
  begun = server.log().length
})

const said = (text: string) => until(`the log says ${text}`, () => news().includes(text))

/** Asks without a pause while the work is done; every status that was answered. */
async function askMeanwhile(path: string, work: () => Promise<void>): Promise<ReadonlySet<number>> {
  const seen = new Set<number>()
  let isOver = false
  const ask = async () => {
    while (!isOver) seen.add((await server.get(path)).status)
  }
  const asking = [ask(), ask()]
  await work().finally(() => {
    isOver = true
  })
  await Promise.all(asking)
  return seen
}

test.serial('saved plugins, types, includes and documents take effect without a failed request', async t => {
  const seen = await askMeanwhile('/api/tags', async () => {
    save('extensions/version.ts', extension('two'))
    await answers('/api/version', 200, { version: 'two' })
    save('project.yaml', project('text: string, weight: integer'))
    await answers('/api/notes?filters[weight][$null]=true', 200)
    save('types/tag.yaml', 'contentTypes: { tag: { attributes: { word: string, color: string } } }\n')
    await answers('/api/tags?fields=color', 200)
    save('content/notes.yaml', '- { documentId: first, text: one }\n- { documentId: second, text: two }\n')
    await answers('/api/notes?filters[text]=two&pagination[withCount]=true&fields=text', 200)
    await until('the document is there', async () =>
      JSON.stringify((await server.get('/api/notes')).body).includes('two'),
    )
    save('lib/is-open.ts', 'export const isOpen: boolean = false\n')
    await answers('/api/notes', 403)
    save('policies/open.ts', policy('!isOpen'))
    await answers('/api/notes', 200)
  })
  t.deepEqual([...seen], [200])
})

test.serial('running requests finish in the old generation, which is closed after them', async t => {
  const slow = server.get('/api/slow')
  await said('waits two')
  save('extensions/version.ts', extension('three'))
  await answers('/api/version', 200, { version: 'three' })
  t.true(news().includes('begins three'))
  t.false(news().includes('ends two'))
  await server.get('/api/let-go/two')
  t.deepEqual((await slow).body, { version: 'two' })
  await said('ends two')
})

test.serial('invalid files change nothing, and the log gives the reason', async t => {
  save('project.yaml', project('text: strin'))
  await said('project.yaml:5:')
  await said('did you mean `string`?')
  save('project.yaml', project('text: string, weight: integer', 'roles: ['))
  await said('the YAML cannot be read')
  save('project.yaml', project('text: string, weight: integer'))
  save('extensions/version.ts', 'export default {')
  await said('extensions/version.ts:1:')
  save(
    'extensions/version.ts',
    extension('lost').replace(
      'bootstrap: ({ app }) =>',
      'bootstrap() { throw new Error("no licence") }, // ({ app }) =>',
    ),
  )
  await said('extensions/version could not start: no licence')
  t.deepEqual((await server.get('/api/version')).body, { version: 'three' })
  t.is((await server.get('/api/notes')).status, 200)
})

test.serial('a change that would lose stored data is refused with its reasons', async t => {
  save('extensions/version.ts', extension('four'))
  await answers('/api/version', 200, { version: 'four' })
  rmSync(join(folder.path, 'content'), { recursive: true })
  save('project.yaml', project('weight: integer'))
  await said('The database cannot be brought in step with this project; nothing was changed')
  t.regex(JSON.stringify((await server.get('/api/notes')).body), /"text":"one"/)
  save('project.yaml', project('text: string, weight: integer'))
})

test.serial('settings that require a restart are logged in one line, and the rest takes effect', async t => {
  save('project.yaml', project('text: string, size: integer').replace('PORT:-1393', 'OTHER:-1394'))
  await said('server.port: changed, but needs a restart to take effect')
  await answers('/api/notes?fields=size', 200)
  t.is((await server.get('/api/notes')).status, 200)
})

test.serial('new folders and removed files are detected', async t => {
  folder.write(
    'middlewares/deep/tagged.ts',
    "import { defineMiddleware } from 'plinth'\nexport default defineMiddleware({ route: () => async (context, next) => { await next(); context.http.response.setHeader('X-Tagged', 'yes') } })\n",
  )
  save('project.yaml', project('text: string').replace('policies: [open]', 'middlewares: [deep/tagged]'))
  await until(
    'the header is there',
    async () => (await server.get('/api/notes')).headers.get('x-tagged') === 'yes',
  )
  rmSync(join(folder.path, 'middlewares'), { recursive: true })
  await said('unknown middleware `deep/tagged`')
  t.is((await server.get('/api/notes')).headers.get('x-tagged'), 'yes')
})

test.serial('a rename keeps the rows, and every request finds one of the two names', async t => {
  const seen = await askMeanwhile('/api/notes', async () => {
    save('project.yaml', project('body: { type: string, renamedFrom: text }'))
    await answers('/api/notes?filters[body]=one&fields=body', 200)
  })
  t.deepEqual([...seen], [200])
  t.regex(JSON.stringify((await server.get('/api/notes')).body), /"body":"one"/)
})
