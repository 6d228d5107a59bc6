import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import test from 'ava'
import { temporaryFolder } from '../harness/folder.ts'
import { startServer } from '../harness/server.ts'

// The recorded cases as they are, writes included, by the runner that any server can be judged with.
const here = import.meta.dirname
const CASES = join(here, 'cases', 'rest')

interface Difference {
  readonly case: string
  readonly step: string
  readonly verdict: 'words' | 'differs'
  readonly want: unknown
  readonly seen: unknown
}

let output = ''
let differences: readonly Difference[] = []

test.before(async () => {
  const folder = temporaryFolder(resolve(here, 'project'))
  const work = mkdtempSync(join(tmpdir(), 'plinth-cases-'))
  const server = await startServer({ project: folder.path })
  try {
    const report = join(work, 'report.json')
    output = await run(['--base', server.base, '--cases', CASES, '--json', report])
    differences = JSON.parse(readFileSync(report, 'utf8')) as Difference[]
  } finally {
    await server.stop()
    folder.remove()
    rmSync(work, { recursive: true })
  }
})

/** The exit code says that something differs: that is for the tests to say. */
const run = (options: readonly string[]): Promise<string> =>
  new Promise(done => {
    execFile(process.execPath, [join(here, 'run.mjs'), ...options], (_error, stdout, stderr) =>
      done(stdout + stderr),
    )
  })

test('every recorded request has the recorded response', t => {
  const listed = differences
    .filter(({ verdict }) => verdict === 'differs')
    .map(({ case: file, step, want, seen }) => ({ file, step, want, seen }))
  t.deepEqual(listed, [])
})

test('almost all errors have the recorded message', t => {
  const total = Number(/of (\d+) the same/.exec(output)?.[1])
  const words = differences.filter(({ verdict }) => verdict === 'words')
  for (const { case: file, step } of words) t.log(`${file} ${step}: only the words differ`)
  t.true(total > 1000, output)
  t.true(words.length < total * 0.03, `${words.length} of ${total}`)
})
