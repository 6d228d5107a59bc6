import { existsSync, symlinkSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { parseDocument } from 'yaml'
import { once } from '../../core/base/memo.ts'
import { compileModel } from '../../core/model/compile-model.ts'
import type { ContentType, Model } from '../../core/model/model.ts'
import { loadProject } from '../../core/project/load-project.ts'
import type { TestApp } from '../../core/testing.ts'
import { bundleConsole } from '../../scripts/bundle-console.ts'
import { runImportStrapi } from '../../tools/cli/import-strapi.ts'
import { paintFor } from '../../tools/cli/paint.ts'
import { temporaryFolder } from '../harness/folder.ts'
import { openTestApp, teardownOfFile } from '../harness/test-app.ts'
import { editorTasks, writerTasks } from './document-tasks.ts'
import {
  editable,
  nameOf,
  type StoredFile,
  type Supply,
  scalarFor,
  type Target,
  type Values,
} from './entered-values.ts'
import { listTasks } from './list-tasks.ts'
import { openConsole, PASSWORD, signInAs } from './open-console.ts'
import { readerTasks } from './reader-tasks.ts'
import type { Workplace } from './work.ts'

// Each content-type of a project is worked on through the console, by three roles, and what is stored is compared with what was entered.
// The tasks are derived from the model. REAL_PROJECTS names a folder of Strapi projects, which are imported first:
//   REAL_PROJECTS=../real-projects npx ava tests/console/projects.test.ts --timeout 30m

const file = teardownOfFile(test.after.always)

const EXAMPLE = resolve(import.meta.dirname, '../..')
const REAL = ['strapi+foodadvisor/api', 'strapi+LaunchPad/strapi', 'bratislava+mestskakniznica.sk/strapi']

const ROLES = {
  public: { permissions: {} },
  chief: { permissions: { '*': '*', upload: '*', users: ['me', 'find', 'findOne'] } },
  writer: {
    permissions: {
      '*': { find: true, findOne: true, create: true, update: true, readDrafts: true, publish: false },
      upload: '*',
      users: ['me', 'find', 'findOne'],
    },
  },
  reader: { permissions: { '*': ['find', 'findOne'], users: ['me'] } },
}

/** A folder with the project, our roles, two locales and the console. */
async function prepare(source: string): Promise<string> {
  const { path, remove } = temporaryFolder()
  file.teardown(remove)
  const own = join(source, 'project.yaml')
  if (existsSync(own)) {
    for (const name of ['extensions', 'mails', 'middlewares', 'policies'])
      symlinkSync(join(source, name), join(path, name))
    await writeFile(join(path, 'project.yaml'), await readFile(own))
  } else
    await runImportStrapi({
      dir: source,
      folder: path,
      ...{ force: false, json: false, database: undefined, databaseSchema: 'public', timeZone: 'UTC' },
      ...{ content: 'none' as const, env: {}, paint: paintFor(false, {}), write: () => {} },
      writeError: text => {
        throw new Error(text)
      },
    })
  const document = parseDocument(await readFile(join(path, 'project.yaml'), 'utf8'))
  for (const [role, permissions] of Object.entries(ROLES)) document.setIn(['roles', role], permissions)
  document.set('i18n', { locales: ['en', 'fr'], defaultLocale: 'en' })
  document.set('console', { enabled: 'always' })
  document.setIn(['server', 'rateLimit'], { auth: false })
  if (source === EXAMPLE) {
    // Its policies decide by the names of its own roles.
    document.delete('routesConfig')
    // The console works in a project of Strapi 4, too.
    document.setIn(['rest', 'responseFormat'], 'v4')
  }
  await writeFile(join(path, 'project.yaml'), document.toString())
  return path
}

async function modelOf(folder: string): Promise<Model> {
  const project = await loadProject(folder, process.env)
  if (!project.ok) throw new Error(JSON.stringify(project.reasons))
  const model = compileModel(project.value)
  if (!model.ok) throw new Error(JSON.stringify(model.reasons))
  return model.value
}

const own = (model: Model): readonly ContentType[] =>
  [...model.contentTypes.values()].filter(({ builtIn }) => !builtIn)

const SEEDS = 40

/** Documents that relations lead to, files, and users of the three roles. */
async function seed(app: TestApp, model: Model): Promise<Supply> {
  let count = 100
  const number = () => ++count
  const files: StoredFile[] = []
  for (const role of ['chief', 'writer', 'reader']) await addUser(app, model, role, number)
  for (const name of ['one', 'two', 'three']) files.push(await uploadPixel(app, `${name}.png`))
  const targets = new Map<ContentType, Target[]>()
  for (const type of own(model).filter(({ kind }) => kind === 'collection')) {
    const documents = app.app.documents(type.uid as 'api::dish.dish')
    const name = nameOf(type)
    const list: Target[] = []
    targets.set(type, list)
    for (let place = 0; place < SEEDS; place++) {
      const data = requiredValues(type, { number, files, target: () => undefined }, name)
      const created = (await documents.create({ data, status: 'published' } as never)) as unknown as Values
      const documentId = String(created.documentId)
      list.push({ documentId, label: name === null ? documentId : String(created[name]) })
    }
  }
  targets.set(model.builtIn.user, await usersOf(app))
  return { number, files, target: type => next(targets.get(type) ?? []) }
}

/** The first one becomes the last. */
function next(targets: Target[]): Target | undefined {
  const first = targets.shift()
  if (first) targets.push(first)
  return first
}

const usersOf = async (app: TestApp): Promise<Target[]> => {
  const users = (await app.app
    .documents('plugin::users-permissions.user')
    .findMany({})) as unknown as readonly Values[]
  return users.map(({ documentId, username }) => ({
    documentId: String(documentId),
    label: String(username),
  }))
}

/** Required values, and the name of the document. */
function requiredValues(type: ContentType, supply: Supply, name: string | null): Values {
  const entries = editable(type).flatMap(attribute => {
    if (!attribute.required && attribute.name !== name) return []
    if (attribute.kind === 'scalar') return [[attribute.name, scalarFor(attribute, supply.number())] as const]
    if (attribute.kind === 'media')
      return [[attribute.name, attribute.many ? [supply.files[0]?.id] : supply.files[0]?.id] as const]
    return []
  })
  return Object.fromEntries(entries)
}

async function addUser(app: TestApp, model: Model, type: string, number: () => number): Promise<void> {
  const roles = (await app.app
    .documents('plugin::users-permissions.role')
    .findMany({ filters: { type } })) as unknown as readonly Values[]
  const more = [...model.builtIn.user.attributes.values()].flatMap(attribute =>
    attribute.kind === 'scalar' && attribute.required && !attribute.system && !FIXED.has(attribute.name)
      ? [[attribute.name, scalarFor(attribute, number())] as const]
      : [],
  )
  const data = {
    ...Object.fromEntries(more),
    username: type,
    email: `${type}@example.org`,
    password: PASSWORD,
    role: roles[0]?.documentId,
  }
  await app.app.documents('plugin::users-permissions.user').create({ data } as never)
}

const FIXED: ReadonlySet<string> = new Set(['username', 'email', 'password'])

const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=='

async function uploadPixel(app: TestApp, name: string): Promise<StoredFile> {
  const { body: session } = await app.request('POST', '/api/auth/local', {
    body: { identifier: 'chief', password: PASSWORD },
  })
  const form = new FormData()
  form.set('files', new File([Buffer.from(PIXEL, 'base64')], name, { type: 'image/png' }))
  const { jwt } = session as { readonly jwt: string }
  const { status, body } = await app.request('POST', '/api/upload', { body: form, token: jwt })
  if (status !== 201) throw new Error(`POST /api/upload: ${status} ${JSON.stringify(body)}`)
  const [{ id } = { id: 0 }] = body as readonly StoredFile[]
  return { id, name }
}

const openPage = once(() => openConsole({ teardown: file.teardown }))

interface Opened extends Omit<Workplace, 'task'> {}

async function openProject(source: string): Promise<Opened> {
  await bundleConsole()
  const folder = await prepare(source)
  const app = await openTestApp(file, { project: folder, listen: true })
  const model = await modelOf(folder)
  return { app, model, supply: await seed(app, model), page: await openPage() }
}

/** Refusals that a task provokes are errors of the browser's log, too. */
const PROVOKED = /status of (400|404|412)/

/** Runs the tasks of a role on all types; reports every failure. */
async function runTasks(
  t: ExecutionContext,
  opened: Opened,
  tasks: (place: Workplace, type: ContentType) => Promise<void>,
): Promise<void> {
  let done = 0
  let current = ''
  const failures: string[] = []
  const task = async (name: string, run: () => Promise<void>) => {
    current = name
    await run()
    done++
  }
  for (const type of own(opened.model))
    await tasks({ ...opened, task }, type).catch((error: Error) => {
      failures.push(`${current}: ${error.message}`)
    })
  const complaints = opened.page.browser.complaints.splice(0)
  t.deepEqual([...failures, ...complaints.filter(text => !PROVOKED.test(text))], [])
  t.true(done >= 25, `${done} tasks`)
}

const JOBS: readonly (readonly [string, string, (place: Workplace, type: ContentType) => Promise<void>])[] = [
  [
    'chief',
    'an editor edits documents of all types',
    async (place, type) => {
      const work = await editorTasks(place, type)
      if (type.kind === 'collection') await listTasks(work)
    },
  ],
  ['writer', 'a writer writes drafts of all types', writerTasks],
  ['reader', 'a reader reads documents of all types', readerTasks],
]

const projects = [
  EXAMPLE,
  ...(process.env.REAL_PROJECTS === undefined
    ? []
    : REAL.map(path => join(process.env.REAL_PROJECTS ?? '', path))),
]

for (const source of projects) {
  const open = once(() => openProject(source))
  const name = source === EXAMPLE ? 'the example' : source.split('/').slice(-2).join('/')
  for (const [role, what, tasks] of JOBS)
    test.serial(`${name}: ${what}`, async t => {
      const opened = await open()
      await signInAs(opened.page, opened.app.url, role)
      await runTasks(t, opened, tasks)
    })
}
