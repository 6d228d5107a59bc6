import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { runExport } from '../../tools/cli/export.ts'
import { runImport } from '../../tools/cli/import.ts'
import { progressBar } from '../../tools/cli/progress.ts'
import { layEmbedded } from '../harness/embedded-files.ts'
import { type Folder, temporaryFolder } from '../harness/folder.ts'
import { PLINTH } from '../harness/program.ts'
import { createDatabase, testServer } from '../harness/test-database.ts'

const PROJECT = `name: Shop
database: { url: "\${DATABASE_URL:-embedded}" }
contentTypes: { book: { attributes: { title: { type: string, required: true } } } }
`

function shop(t: ExecutionContext): Folder {
  const folder = temporaryFolder()
  t.teardown(() => folder.remove())
  folder.write('project.yaml', PROJECT)
  return folder
}

/** The first line of each command that uses the database; environment.test.ts checks it. */
const DATABASE_LINE = /^Database: .*\n/

/** A command in a process of its own. */
function plinth(
  words: readonly string[],
  { url, input = '' }: { readonly url: string; readonly input?: string },
) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [...PLINTH, ...words], {
    encoding: 'utf8',
    input,
    env: { ...process.env, DATABASE_URL: url },
    timeout: 120_000,
  })
  return { code: status, out: stdout, reported: stderr.replace(DATABASE_LINE, '') }
}

const HEADER = `{"plinth":"documents","format":1,"project":"Shop","fingerprint":"","passwords":false,"locales":["en"],"types":{"api::book.book":{"draftAndPublish":false,"localized":false,"attributes":{"title":"string"}}},"components":{}}`

const book = (documentId: string, values: object) =>
  JSON.stringify({ type: 'api::book.book', documentId, versions: [{ values }] })

test('export and import work as a pipe from standard output to standard input', async t => {
  const folder = shop(t)
  const url = await databaseUrl(t)
  if (url === 'embedded') await layEmbedded(folder.path)
  const input = `${[HEADER, book('dune', { title: 'Dune' }), book('emma', { title: 'Emma' })].join('\n')}\n`
  const done = plinth(['import', folder.path, '-'], { url, input })
  t.deepEqual([done.code, done.out, done.reported], [0, '', 'Imported: 2 made\n'])
  t.false(
    readdirSync(folder.path, { recursive: true, encoding: 'utf8' }).some(file => file.endsWith('.ndjson')),
  )
  const again = plinth(['export', folder.path, '--out', '-', '--types', 'book'], { url })
  t.deepEqual([again.code, again.reported], [0, 'Exported 2 documents\n'])
  const titles = again.out.split('\n').slice(1, -1)
  t.deepEqual(
    titles.map(line => JSON.parse(line).versions[0].values),
    [{ title: 'Dune' }, { title: 'Emma' }],
  )
})

test('an impossible import is refused in one sentence, and writes nothing', async t => {
  const folder = shop(t)
  const reported: string[] = []
  const base = {
    folder: folder.path,
    env: {},
    paint: (_: string, text: string) => text,
    write: () => {},
    writeError: (text: string) => void (DATABASE_LINE.test(text) || reported.push(text)),
  }
  const exporting = { ...base, types: [], passwordHashes: false }
  const importing = { ...base, onConflict: 'skip', dryRun: false, events: false } as const
  t.is(await runExport({ ...exporting, out: join(folder.path, 'all.ndjson') }), 1)
  t.is(await runImport({ ...importing, file: join(folder.path, 'none.ndjson') }), 1)
  t.is(await runImport({ ...importing, file: folder.path }), 1)
  t.is(await runImport({ ...importing, file: join(folder.path, 'project.yaml'), files: '/nowhere' }), 1)
  t.deepEqual(reported.splice(0), [
    'This project was never started: there are no documents to export\n',
    `There is no file ${join(folder.path, 'none.ndjson')}\n`,
    `${folder.path} is a folder: name the file to import\n`,
    'There is no folder /nowhere with the bytes of files\n',
  ])
  t.false(existsSync(join(folder.path, '.plinth')))
  await layEmbedded(folder.path)

  folder.write('wrong.ndjson', `${HEADER}\n${book('dune', {})}\n`)
  t.is(await runImport({ ...importing, file: join(folder.path, 'wrong.ndjson') }), 1)
  t.is(reported.pop(), 'wrong.ndjson:2 book dune: title must be defined.\n')
  t.is(await runExport({ ...exporting, types: ['bok'], out: '-' }), 1)
  t.is(reported.pop(), 'unknown content-type `bok`: did you mean `book`?\n')
  t.is(await runExport({ ...exporting, types: [''], out: '-' }), 1)
  t.regex(reported.pop() ?? '', /^unknown content-type ``: one of /)
  const project = join(folder.path, 'project.yaml')
  const nowhere = join(folder.path, 'no', 'where')
  t.is(await runExport({ ...exporting, out: nowhere }), 1)
  t.is(reported.pop(), `There is no folder ${join(folder.path, 'no')} for ${nowhere}\n`)
  t.is(await runExport({ ...exporting, out: folder.path }), 1)
  t.is(reported.pop(), `${folder.path} is a folder: name the file to write\n`)
  t.is(await runExport({ ...exporting, out: '-', files: project }), 1)
  t.is(await runImport({ ...importing, file: join(folder.path, 'wrong.ndjson'), files: project }), 1)
  t.deepEqual(reported.splice(0), Array(2).fill(`${project} is a file: --files names a folder\n`))
  // A file at the path of the draft does not affect the permissions.
  const draft = `all.ndjson.${process.pid}.part`
  folder.write(draft, 'of another import')
  chmodSync(join(folder.path, draft), 0o666)
  const killed = 'all.ndjson.2147483646.part'
  folder.write(killed, 'hashes of passwords')
  t.is(await runExport({ ...exporting, out: join(folder.path, 'all.ndjson') }), 0)
  t.is(reported.pop(), 'Exported 0 documents\n')
  t.is(statSync(join(folder.path, 'all.ndjson')).mode & 0o777, 0o600)
  t.false(existsSync(join(folder.path, killed)))
  t.regex(readFileSync(join(folder.path, 'all.ndjson'), 'utf8'), /^\{"plinth":"documents",.*\}\n$/)
})

test('documents skipped by an import are listed in a file, and the exit code reports them', async t => {
  const folder = shop(t)
  const reported: string[] = []
  const options = {
    folder: folder.path,
    env: { DATABASE_URL: await databaseUrl(t) },
    paint: (_: string, text: string) => text,
    write: () => {},
    writeError: (text: string) => void (DATABASE_LINE.test(text) || reported.push(text)),
    ...({ onConflict: 'skip', dryRun: false, events: false } as const),
    file: join(folder.path, 'books.ndjson'),
  }
  folder.write('books.ndjson', `${[HEADER, book('dune', {}), book('emma', { title: 'Emma' })].join('\n')}\n`)
  const nowhere = join(folder.path, 'no', 'where')
  t.is(await runImport({ ...options, skipInvalid: nowhere }), 1)
  t.is(reported.pop(), `There is no folder ${join(folder.path, 'no')} for ${nowhere}\n`)
  const report = join(folder.path, 'report.ndjson')
  t.is(await runImport({ ...options, skipInvalid: report }), 1)
  t.is(reported.shift(), 'Imported: 1 made\n')
  t.regex(reported.shift() ?? '', /^Left out: 1\. .*report\.ndjson says which and why/)
  t.is(
    readFileSync(report, 'utf8'),
    '{"file":"books.ndjson","line":2,"about":"book dune","message":"title must be defined."}\n',
  )
  folder.write('books.ndjson', `${[HEADER, book('dune', { title: 'Dune' })].join('\n')}\n`)
  t.is(await runImport({ ...options, skipInvalid: report }), 0)
  t.deepEqual([reported.shift(), readFileSync(report, 'utf8')], ['Imported: 1 made\n', ''])
})

test('`import strapi` and `import` keep their options apart', t => {
  const words = ['import', 'strapi', '/nowhere', '--out', join(shop(t).path, 'out')]
  const done = plinth([...words, '--skip-invalid', 'report.ndjson'], { url: 'embedded' })
  t.deepEqual(
    [done.code, done.reported],
    [
      1,
      '--skip-invalid is for documents that are imported: it needs --database or --archive, and no --content\n',
    ],
  )
})

async function databaseUrl(t: ExecutionContext): Promise<string> {
  const server = testServer()
  return server ? createDatabase(t, server) : 'embedded'
}

test('progress is shown only on a terminal', t => {
  const drawn: string[] = []
  const write = (text: string) => void drawn.push(text)
  const bar = progressBar({ isTTY: true, columns: 60, write })
  bar.show('Importing', 50, 100)
  bar.clear()
  t.is(drawn.join(''), '\r\x1b[2KImporting ████████████░░░░░░░░░░░░ 50%  50 of 100\r\x1b[2K')
  drawn.length = 0
  progressBar({ write }).show('Importing', 50, 100)
  t.deepEqual(drawn, [])
})
