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

/**
 * The specification asks for exactly one key in a position (section 4.7); Strapi takes anything else as the end or drops
 * the second key, and says nothing. These steps are refused here (docs/reference/rest.md#9-relations-in-bodies).
 */
const REFUSED_POSITIONS = [
  'two-keys',
  'two-keys-after-end',
  'empty-position',
  'unknown-position',
  'start-false',
  'text-position',
]

const refusedPosition = ({ case: file, step }: Difference): boolean =>
  file.endsWith('31-relations-position.json') && REFUSED_POSITIONS.includes(step)

test('the recorded positions that have not exactly one key are refused', t => {
  const refused = differences.filter(refusedPosition)
  t.deepEqual(refused.map(({ step }) => step).sort(), REFUSED_POSITIONS.toSorted())
  t.true(refused.every(({ seen }) => JSON.stringify(seen).includes('Invalid position of a relation')))
})

test('every other recorded request has the recorded response', t => {
  const listed = differences
    .filter(difference => difference.verdict === 'differs' && !refusedPosition(difference))
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
