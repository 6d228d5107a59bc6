import { cpSync, existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import test from 'ava'
import { temporaryFolder } from '../harness/folder.ts'
import { startServer } from '../harness/server.ts'
import { type Body, namesIn } from './reading-room.ts'

const root = resolve(import.meta.dirname, '..', '..')
const read = (file: string): string => readFileSync(join(root, file), 'utf8')

/** The fenced blocks of one language, in order. */
const blocksOf = (text: string, language: string): readonly string[] =>
  [...text.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, 'gm'))].map(
    match => match[1] ?? '',
  )

test('the project of the first guide starts and answers as the guide says', async t => {
  const [project = '', authors = '', books = ''] = blocksOf(read('docs/getting-started.md'), 'yaml')
  const folder = temporaryFolder()
  folder.write(
    'project.yaml',
    `${project}server: { host: 127.0.0.1, port: "\${PORT}" }\ndatabase: { url: "\${DATABASE_URL}" }\n`,
  )
  folder.write('content/authors.yaml', authors)
  folder.write('content/books.yaml', books)
  const server = await startServer({ project: folder.path })
  try {
    const found = await server.get(
      '/api/books?filters[author][name][$containsi]=lem&sort=pages&populate=author',
    )
    t.deepEqual(namesIn((found.body as Body).data, 'title'), ['Solaris', 'The Cyberiad'])
    const refused = await server.get('/api/books?sort=page')
    t.deepEqual(refused.body, JSON.parse(blocksOf(read('docs/getting-started.md'), 'json')[1] ?? ''))
  } finally {
    await server.stop()
    folder.remove()
  }
})

test('the project of the README starts and serves its types', async t => {
  const folder = temporaryFolder()
  const [project = ''] = blocksOf(read('README.md'), 'yaml')
  folder.write(
    'project.yaml',
    `${project}server: { host: 127.0.0.1, port: "\${PORT}" }\ndatabase: { url: "\${DATABASE_URL}" }\n`,
  )
  const server = await startServer({ project: folder.path })
  try {
    for (const query of [
      '',
      '?filters[author][name][$startsWithi]=a&sort=pages:desc',
      '?populate[author][fields]=name',
    ]) {
      t.is((await server.get(`/api/books${query}`)).status, 200, query)
    }
    t.is((await server.get('/api/books?status=draft')).status, 403)
  } finally {
    await server.stop()
    folder.remove()
  }
})

test('the example shows its restaurants with their relations, and nothing that is not public', async t => {
  const folder = temporaryFolder()
  for (const part of ['project.yaml', 'content', 'policies', 'middlewares', 'extensions', 'mails'])
    cpSync(join(root, part), join(folder.path, part), { recursive: true })
  const server = await startServer({ project: folder.path })
  try {
    const restaurants = (await server.get('/api/restaurants?populate=*&sort=name')).body as {
      data: readonly Body[]
    }
    t.is(restaurants.data.length, 12)
    const [azul] = restaurants.data.filter(({ documentId }) => documentId === 'comal-azul')
    t.like(azul, { address: { city: 'Oaxaca' } })
    t.deepEqual(namesIn(azul?.dishes), ['Mole negro', 'Tlayuda', 'Memela'])
    const critics = JSON.stringify((await server.get('/api/critics?populate=*')).body)
    t.notRegex(critics, /"phone"|\b555 010|"portrait"|"articles"/)
    const articles = (await server.get('/api/articles?locale=fr&sort=title')).body as Body
    t.deepEqual(namesIn(articles.data, 'title').at(0), 'La cour, à huit heures')
    t.is((await server.get('/api/articles?status=draft')).status, 403)
    t.is((await server.get('/api/homepage?populate=*')).status, 200)
  } finally {
    await server.stop()
    folder.remove()
  }
})

test('every link between documentation pages resolves to a file', t => {
  const documents = [
    'README.md',
    'CHANGELOG.md',
    ...readdirSync(join(root, 'docs')).map(name => `docs/${name}`),
  ]
  const broken = documents
    .filter(file => file.endsWith('.md'))
    .flatMap(file =>
      [...read(file).matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map(match => ({ file, to: match[1] ?? '' })),
    )
    .filter(({ file, to }) => !existsSync(join(root, dirname(file), to)))
  t.deepEqual(broken, [])
})
