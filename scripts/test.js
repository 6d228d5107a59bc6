import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, statfsSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { dirname, join } from 'node:path'
import { build } from '../tests/build/build.js'
import { built, builtOf, root } from '../tests/build/place.cjs'
import { runFiles } from '../tests/build/run-files.js'
import { testFiles } from '../tests/build/test-files.js'

// `npm test`: all tests, in one process more than there are cores, as each waits for a part of its time, or in TEST_PROCESSES
// processes. `npm test -- --tap` prints TAP, for .ci/run. With other arguments (`npm test -- tests/rest/filters.test.ts`) it is
// ava itself.

/** Linux keeps these files in memory. */
const MEMORY = '/dev/shm'
const ENOUGH_BYTES = 4 * 2 ** 30

/**
 * Temporary files are in memory where it has room: on a disk, the files of databases that exist for a second take a tenth of
 * the processor time, and their processes wait for the disk.
 */
function chooseTemporaryFolder() {
  if (process.env.TMPDIR || !existsSync(MEMORY)) return
  const { bavail, bsize } = statfsSync(MEMORY)
  if (bavail * bsize >= ENOUGH_BYTES) process.env.TMPDIR = MEMORY
}

const args = process.argv.slice(2)
const isTap = args.length === 1 && args[0] === '--tap'

async function runAll() {
  await prepare()
  const times = readTimes()
  const { files: found, left } = await testFiles()
  const files = longestFirst(found, times)
  const reporter = isTap ? openTap() : openProgress(files.length)
  for (const [needs, count] of left) reporter.note(`${count} files are not run: they need ${needs}`)
  const began = new Map()
  await runFiles(files, {
    processes: Number(process.env.TEST_PROCESSES || Math.min(4, availableParallelism() + 1)),
    execArgv: [],
    report(event) {
      if (event.type === 'started') began.set(event.file, Date.now())
      if (event.type === 'done') times[event.file] = Date.now() - (began.get(event.file) ?? Date.now())
      reporter.report(event)
    },
  })
  writeTimes(times)
  return reporter.finish()
}

/** What all processes would otherwise make at the same time: the built tests and the files of an empty database. */
async function prepare() {
  await build()
  const { snapshot } = await import(builtOf(join(root, 'tests', 'harness', 'embedded-files.ts')))
  await snapshot()
}

const TIMES = join(dirname(built), 'test-times.json')

/** Milliseconds that each file took in the last run. */
function readTimes() {
  return existsSync(TIMES) ? JSON.parse(readFileSync(TIMES, 'utf8')) : {}
}

function writeTimes(times) {
  mkdirSync(dirname(TIMES), { recursive: true })
  writeFileSync(TIMES, JSON.stringify(times))
}

/** Files that take longest, for the first run of a clone. */
const LONGEST = [
  'tests/server/races/races.test.ts',
  'tests/plugins/faulty-files.test.ts',
  'tests/end-to-end/embedded-access.test.ts',
  'tests/server/clusters/plans.test.ts',
  'tests/server/event-loop.test.ts',
  'tests/server/workers.test.ts',
  'tests/server/hostile-wire.test.ts',
  'tests/console/screens.test.ts',
  'tests/console/projects.test.ts',
  'tests/server/outdated-process.test.ts',
  'tests/server/idempotency.test.ts',
]

/** Milliseconds of an average file. */
const AVERAGE = 15_000

/** So that no process idles at the end while another one runs a long file. */
function longestFirst(files, times) {
  const timeOf = file => times[file] ?? (LONGEST.includes(file) ? 10 * AVERAGE : AVERAGE)
  return files.toSorted((one, other) => timeOf(other) - timeOf(one))
}

const indent = text => text.replaceAll(/^/gm, '    ')

/** Prints `[files of all files] tests` after each file, and each failure in full. */
function openProgress(total) {
  const began = Date.now()
  const done = { files: 0, passed: 0 }
  const failures = []
  const seconds = () => Math.round((Date.now() - began) / 1000)
  const show = () => {
    const text = `[${done.files} of ${total} files, ${seconds()} s] ${done.passed} passed, ${failures.length} failed`
    process.stdout.write(process.stdout.isTTY ? `\r\u001b[K${text}` : `${text}\n`)
  }
  return {
    note: text => process.stdout.write(`${text}\n`),
    report({ type, file, title, details }) {
      if (type === 'passed') done.passed++
      if (type === 'failed') {
        failures.push(`${file}: ${title}`)
        process.stdout.write(`\n✘ ${failures.at(-1)}\n\n${indent(details)}\n\n`)
      }
      if (type === 'done') {
        done.files++
        show()
      }
    },
    finish() {
      for (const failure of failures) process.stdout.write(`\n✘ ${failure}`)
      process.stdout.write(`\n${done.passed} tests passed, ${failures.length} failed in ${seconds()} s\n`)
      return failures.length === 0 ? 0 : 1
    },
  }
}

function openTap() {
  let count = 0
  let failed = 0
  process.stdout.write('TAP version 13\n')
  return {
    note: text => process.stdout.write(`# ${text}\n`),
    report({ type, file, title, details }) {
      if (type === 'passed') process.stdout.write(`ok ${++count} - ${file} › ${title}\n`)
      if (type !== 'failed') return
      failed++
      process.stdout.write(`not ok ${++count} - ${file} › ${title}\n${indent(details)}\n`)
    },
    finish() {
      process.stdout.write(`1..${count}\n# ${count - failed} passed, ${failed} failed\n`)
      return failed === 0 ? 0 : 1
    },
  }
}

// The end: a constant above must be defined before it is used.
chooseTemporaryFolder()
if (args.length > 0 && !isTap) {
  const ava = join(root, 'node_modules', 'ava', 'entrypoints', 'cli.mjs')
  const child = spawn(process.execPath, [ava, ...args], { stdio: 'inherit', cwd: root })
  child.on('close', code => {
    process.exitCode = code ?? 1
  })
} else process.exitCode = await runAll()
