import test, { type ExecutionContext } from 'ava'
import { temporaryFolder } from '../harness/folder.ts'
import { openTestApp } from '../harness/test-app.ts'

// What project code does with a list, a search over all types cannot know: such types are left out of it.

const type = { search: { attributes: { title: 'A' } }, attributes: { title: 'string' } }
const PROJECT = {
  contentTypes: { article: type, book: type, place: type },
  routesConfig: { 'article.find': { policies: ['refuse'] } },
  roles: { public: { permissions: { article: ['find'], book: ['find'], place: ['find'] } } },
}

async function searched(
  t: ExecutionContext,
  files: Readonly<Record<string, string>>,
  project: object = PROJECT,
) {
  const folder = temporaryFolder()
  t.teardown(folder.remove)
  for (const [name, text] of Object.entries(files)) folder.write(name, text)
  const { app, request } = await openTestApp(t, { project: { ...project }, plugins: folder.path })
  for (const key of ['article', 'book', 'place']) await app.documents(key).create({ data: { title: 'wine' } })
  const { status, body } = await request('GET', '/api/search?q=wine')
  const { data } = body as { data: readonly { contentType: string }[] | null }
  return data?.map(({ contentType }) => contentType) ?? status
}

const extension = (register: string) =>
  `import { defineExtension } from 'plinth'\nexport default defineExtension({ register({ rest, documents }) { ${register} } })`

const route = (path: string, options: string) =>
  extension(`rest.route('GET', '${path}', async () => ({ data: [{ contentType: 'own' }] }), { ${options} })`)

test('types whose list has a policy or is replaced are left out of a search over all types', async t => {
  const files = {
    'policies/refuse.ts': `import { definePolicy } from 'plinth'\nexport default definePolicy(() => false)`,
    'extensions/books.ts': route('/books', 'replaces: true'),
  }
  t.deepEqual(await searched(t, files), ['place'])
})

test('with document middlewares there is no search over all types', async t => {
  const { routesConfig: _, ...project } = PROJECT
  const files = { 'extensions/hide.ts': extension('documents.use((context, next) => next())') }
  t.is(await searched(t, files, project), 403)
})

test('the route of an extension at the same path comes first', async t => {
  const { routesConfig: _, ...project } = PROJECT
  t.deepEqual(await searched(t, { 'extensions/own.ts': route('/search', 'auth: false') }, project), ['own'])
})
