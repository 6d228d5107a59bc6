import { fork } from 'node:child_process'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { blockedAt, root } from './place.cjs'

/** Milliseconds without a result after which a process is ended. */
const TIMEOUT = 480_000

/** Milliseconds in which such a process may still report what it waits for. It cannot while its event loop is blocked. */
const EXPLANATION = 10_000

/**
 * Runs test files in so many processes; reports `{ file, type: 'started' | 'passed' | 'failed' | 'done', title, details }`.
 * Clusters of several servers run last, with nothing next to them: without processor time for their heartbeats they elect
 * leaders at random.
 */
export async function runFiles(files, { processes, execArgv, report }) {
  const queue = files.filter(file => !isCluster(file))
  const clusters = files.filter(isCluster)
  const lane = async () => {
    while (queue.length > 0) await runProcess(queue, { execArgv, report })
  }
  await Promise.all(Array.from({ length: processes }, lane))
  while (clusters.length > 0) await runProcess(clusters, { execArgv, report })
}

const isCluster = file => file.startsWith('tests/server/patroni/')

/** A file that measures the heap needs a process of its own: what other files left is collected meanwhile, and counts. */
const measuresHeap = file => readFileSync(join(root, file), 'utf8').includes('harness/heap.ts')

const nodeOptions = () =>
  `${process.env.NODE_OPTIONS ?? ''} --require ${JSON.stringify(join(root, 'tests/build/short-lived.cjs'))}`.trim()

/** Where a process whose event loop is blocked was a moment ago. */
function stackOf({ pid }) {
  const file = blockedAt(pid)
  return existsSync(file) ? `\n${readFileSync(file, 'utf8')}` : ''
}

/** Runs files until the queue is empty, the process must be replaced, or it ends early. */
function runProcess(queue, { execArgv, report }) {
  const child = fork(join(root, 'tests/build/worker.js'), {
    cwd: root,
    execArgv,
    env: { NODE_ENV: 'test', ...process.env, NODE_OPTIONS: nodeOptions() },
  })
  let file
  let timer
  const end = (reason = `The event loop is blocked.${stackOf(child)}`) => {
    clearTimeout(timer)
    const details = `No result for ${TIMEOUT / 1000} s. ${reason}`
    report({ file, type: 'failed', title: 'timeout', details })
    child.kill('SIGKILL')
  }
  let alone = false
  const watch = () => {
    clearTimeout(timer)
    timer = setTimeout(() => {
      if (child.connected) child.send('explain')
      timer = setTimeout(end, EXPLANATION)
    }, TIMEOUT)
  }
  const next = ({ used }) => {
    const ends = alone || (used && queue.length > 0 && measuresHeap(queue[0]))
    file = ends ? undefined : queue.shift()
    if (file === undefined) child.disconnect()
    else {
      alone = measuresHeap(file)
      report({ file, type: 'started' })
      child.send(file)
    }
  }
  child.on('message', message => {
    if (message.type === 'explained') return end(message.reason)
    watch()
    if (message.type === 'ready') next({ used: false })
    else report({ ...message, file })
    if (message.type !== 'done') return
    if (message.last) {
      file = undefined
      child.disconnect()
    } else next({ used: true })
  })
  return new Promise(resolve => {
    child.on('exit', (code, signal) => {
      clearTimeout(timer)
      rmSync(blockedAt(child.pid), { force: true })
      if (file !== undefined) {
        const details = `The process of the file ended with ${signal ?? `code ${code}`}.`
        report({ file, type: 'failed', title: 'process', details })
        report({ file, type: 'done' })
      }
      resolve()
    })
  })
}
