import { createRequire } from 'node:module'
import { dirname, join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { Worker } from 'node:worker_threads'
import { blockedAt, builtOf, root } from './place.cjs'

// A process of `npm test`: runs one test file after another, each with ava's own runner. Imported modules, and the
// embedded PostgreSQL engine that the previous file closed, are used by the next file: starting both takes longer than
// most files run. `npx ava FILE` runs a file in a process of its own.

const require = createRequire(import.meta.url)
const lib = join(dirname(dirname(require.resolve('ava'))), 'lib')
const load = name => import(pathToFileURL(join(lib, name)).href)

const { refs } = require(join(lib, 'worker/state.cjs'))
const { default: Runner } = await load('runner.js')
const { default: serializeError } = await load('serialize-error.js')
const { set: setChalk } = await load('chalk.js')

setChalk({ level: 0 })
const options = { projectDir: root, failWithoutAssertions: true, serial: !process.env.TEST_DATABASE_URL }
require(join(lib, 'worker/options.cjs')).set({ ...options, chalkOptions: { level: 0 } })

let runner

/** Titles of the file's tests that have no result yet. */
const running = new Set()

/** What test files import as `test`: it declares tests of the file that is being loaded. */
refs.runnerChain = new Proxy(() => {}, {
  apply: (_target, _this, args) => runner.chain(...args),
  get: (_target, key) => runner.chain[key],
})

const rejections = new Map()
process.on('unhandledRejection', (reason, promise) => rejections.set(promise, reason))
process.on('rejectionHandled', promise => rejections.delete(promise))

const send = message => new Promise(resolve => process.send(message, resolve))

const fail = (title, error, file) =>
  send({ type: 'failed', title, details: printError(serializeError(error, { testFile: file })) })

process.on('uncaughtException', async error => {
  await fail('uncaught exception', error, runner?.file)
  process.exit(1)
})

function printError({ message, stack, formattedDetails = [], formattedCause, formattedError }) {
  const details = formattedDetails.map(({ label, formatted }) => `${label}\n\n${formatted}`)
  return [message, ...details, formattedCause, formattedError, stack].filter(Boolean).join('\n\n')
}

async function run(file) {
  rejections.clear()
  runner = new Runner({ ...options, file })
  let declared = 0
  running.clear()
  runner.on('stateChange', state => {
    if (state.type === 'declared-test') {
      declared++
      running.add(state.title)
    }
    if (state.type === 'test-passed' || state.type === 'test-failed') running.delete(state.title)
    if (state.type === 'test-passed') process.send({ type: 'passed', title: state.title })
    if (state.type === 'test-failed' || state.type === 'hook-failed')
      process.send({
        type: 'failed',
        title: state.title,
        details: [...(state.logs ?? []), printError(state.err)].join('\n\n'),
      })
  })
  const finished = new Promise((resolve, reject) => {
    runner.on('finish', resolve)
    runner.on('error', reject)
  })
  try {
    await import(pathToFileURL(builtOf(file)).href)
    if (declared === 0) throw new Error('The file declares no test.')
    await finished
  } catch (error) {
    await fail('the file', error, file)
  }
  await new Promise(resolve => setImmediate(resolve))
  for (const reason of rejections.values()) await fail('unhandled rejection', reason, file)
}

/** Bytes of memory after which the process gives way to a new one. */
const MEMORY_LIMIT = 1.5 * 2 ** 30

/**
 * Bytes of memory after which a file is followed by a garbage collection: V8 does not count the memory of closed database
 * engines, so they would fill the process after ten files, and a new process compiles everything again.
 */
const COLLECTION_LIMIT = MEMORY_LIMIT / 2

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc')

function usedMemory() {
  if (process.memoryUsage.rss() > COLLECTION_LIMIT) collectGarbage()
  return process.memoryUsage.rss()
}

/** Milliseconds after which the stack of a blocked event loop is recorded. */
const BLOCKED = 60_000

const turns = new Int32Array(new SharedArrayBuffer(4))
setInterval(() => Atomics.add(turns, 0, 1), BLOCKED / 10).unref()
const workerData = { counter: turns.buffer, file: blockedAt(process.pid), interval: BLOCKED }
new Worker(new URL('record-blocked.js', import.meta.url), { workerData }).unref()

/** What a file waits for that has no results for a long time. */
const explain = () => {
  const resources = process.getActiveResourcesInfo().toSorted().join(', ')
  return send({
    type: 'explained',
    reason: `Running: ${[...running].join('; ')}. Waiting for: ${resources}.`,
  })
}

process.on('message', async name => {
  if (name === 'explain') return explain()
  // While a file runs, only its own work keeps the process alive: so ava notices a test that waits for nothing.
  process.channel.unref()
  await run(join(root, name))
  process.channel.ref()
  await send({
    type: 'done',
    file: relative(root, join(root, name)),
    last: usedMemory() > MEMORY_LIMIT,
  })
})

process.on('disconnect', () => process.exit())

await send({ type: 'ready' })
