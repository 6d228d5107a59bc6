import { execFileSync, spawnSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
} from 'node:fs'
import { readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import test from 'ava'
import {
  partialPath,
  temporaryFolder as processFolder,
  writeOutputFile,
} from '../../tools/transfer/partial-path.ts'
import { temporaryFolder } from '../harness/folder.ts'
import { PLINTH } from '../harness/program.ts'

/** Larger than the ids of Linux. */
const ENDED = 2_147_483_646

test('incomplete files of ended processes are removed, those of running ones and of other files are kept', async t => {
  const folder = temporaryFolder()
  t.teardown(folder.remove)
  const kept = [
    `all.ndjson.${process.ppid}.part`,
    'all.ndjson',
    'all.ndjson.part',
    `all.ndjson.${ENDED}.part.gz`,
    `all-ndjson.${ENDED}.part`,
    `more.all.ndjson.${ENDED}.part`,
    `all.ndjson.old.${ENDED}.part`,
  ]
  for (const name of [...kept, `all.ndjson.${ENDED}.part`, `all.ndjson.${process.pid}.part`])
    folder.write(name, 'hashes')
  const path = join(folder.path, 'all.ndjson')
  t.is(await partialPath(path), `${path}.${process.pid}.part`)
  t.deepEqual(readdirSync(folder.path).toSorted(), kept.toSorted())
})

test('temporary folders of ended processes are removed, those of running ones and of other names are kept', async t => {
  const prefix = `plinth-test-${process.pid}`
  const pids = { [`${prefix}-${process.ppid}-Aa0000`]: true, [`${prefix}-${ENDED}-Aa0000`]: false }
  const names = { ...pids, [`${prefix}-${ENDED}-Aa0000.d`]: true, [`${prefix}-x${ENDED}-Aa0000`]: true }
  for (const name of Object.keys(names)) mkdirSync(join(tmpdir(), name))
  const made = await processFolder(prefix)
  t.teardown(() =>
    Promise.all(
      [made, ...Object.keys(names)].map(name =>
        rm(join(tmpdir(), basename(name)), { recursive: true, force: true }),
      ),
    ),
  )
  for (const [name, isKept] of Object.entries(names)) t.is(existsSync(join(tmpdir(), name)), isKept, name)
  t.is(statSync(made).mode & 0o777, 0o700)
})

test('an output file keeps its permissions and the link that leads to it; a pipe is written itself', async t => {
  const folder = temporaryFolder()
  t.teardown(folder.remove)
  const [file, link, pipe] = ['project.yaml', 'link.yaml', 'pipe'].map(name => join(folder.path, name)) as [
    string,
    string,
    string,
  ]
  folder.write('project.yaml', 'before')
  chmodSync(file, 0o600)
  symlinkSync('project.yaml', link)
  await writeOutputFile(link, 'after')
  t.deepEqual([readFileSync(file, 'utf8'), statSync(file).mode & 0o777], ['after', 0o600])
  t.true(lstatSync(link).isSymbolicLink())
  execFileSync('mkfifo', [pipe])
  const [text] = await Promise.all([readFile(pipe, 'utf8'), writeOutputFile(pipe, 'for a reader')])
  t.deepEqual([text, statSync(pipe).isFIFO()], ['for a reader', true])
  t.deepEqual(readdirSync(folder.path).toSorted(), ['link.yaml', 'pipe', 'project.yaml'])
})

test('a command that has no room for its file leaves the one before, and nothing else', t => {
  const folder = temporaryFolder()
  t.teardown(folder.remove)
  folder.write('project.yaml', 'name: Shop\ncontentTypes: { book: { attributes: { title: string } } }\n')
  folder.write('out/made', 'before')
  const out = join(folder.path, 'out')
  const made = join(out, 'made')
  for (const words of [
    ['client', folder.path, '--out', made],
    ['types', folder.path, '--out', made],
    ['openapi', folder.path, '--out', made],
  ]) {
    // Files of 1 KB at most: a write of more is cut, as on a full disk.
    const limited = ['-c', 'ulimit -f 1; exec "$0" "$@"', process.execPath, ...PLINTH, ...words]
    const { status, stderr } = spawnSync('bash', limited, { encoding: 'utf8', timeout: 120_000 })
    t.is(status, 1, words.join(' '))
    t.is(stderr, `A file or folder cannot be used: EFBIG: file too large, write '${made}'\n`)
    t.deepEqual(readdirSync(out), ['made'])
    t.is(readFileSync(made, 'utf8'), 'before', words.join(' '))
  }
})
