import { createRequire } from 'node:module'
import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'

/** More passwords wait than the threads can work off in some seconds: the request is to be tried again. */
export class PasswordsBusy extends Error {
  constructor() {
    super('too many passwords are waiting to be checked')
    this.name = 'PasswordsBusy'
  }
}

export interface PasswordPool {
  hash(password: string, cost: number): Promise<string>
  /** Whether it is the password of the hash. */
  compare(password: string, hash: string): Promise<boolean>
}

/** Work of bcrypt, named as its function: some 50 ms of one processor. */
type Task =
  | { readonly task: 'hash'; readonly password: string; readonly cost: number }
  | { readonly task: 'compare'; readonly password: string; readonly hash: string }

interface PoolTerms {
  readonly threads: number
  /** Tasks that may wait beside those that are worked on. */
  readonly waiting: number
}

/** Leaves a processor to the event loop. */
const TERMS: PoolTerms = { threads: availableParallelism() > 2 ? 2 : 1, waiting: 100 }

interface Job {
  readonly task: Task
  resolve(result: unknown): void
  reject(error: Error): void
}

/**
 * Runs bcrypt in threads, so that no request waits for the password of another. A thread starts with the first task,
 * works on one at a time, and is replaced when it fails. Tasks are done in the order in which they come.
 */
export function openPasswordPool({ threads, waiting }: PoolTerms = TERMS): PasswordPool {
  const queue: Job[] = []
  const idle: Thread[] = []
  let running = 0

  const takeIdle = (): Thread | undefined => {
    let thread = idle.pop()
    while (thread?.isOver()) thread = idle.pop()
    return thread
  }
  const next = (): void => {
    const job = queue[0]
    if (!job || (idle.length === 0 && running >= threads)) return
    queue.shift()
    const thread = takeIdle() ?? start()
    running++
    void thread.perform(job).then(isUsable => {
      running--
      if (isUsable) idle.push(thread)
      next()
    })
  }
  const run = (task: Task): Promise<unknown> =>
    new Promise((resolve, reject) => {
      if (running >= threads && queue.length >= waiting) return reject(new PasswordsBusy())
      queue.push({ task, resolve, reject })
      next()
    })
  return {
    hash: async (password, cost) => String(await run({ task: 'hash', password, cost })),
    compare: async (password, hash) => (await run({ task: 'compare', password, hash })) === true,
  }
}

/** Where the package is, for a thread that has no place of its own to look from. */
const BCRYPT = createRequire(import.meta.url).resolve('bcryptjs')

/** Given as text, so that it runs from sources, from the build and from tests alike. */
const PROGRAM = `
const { parentPort, workerData } = require('node:worker_threads')
const { compareSync, hashSync } = require(workerData)
parentPort.on('message', ({ task, password, cost, hash }) =>
  parentPort.postMessage(task === 'hash' ? hashSync(password, cost) : compareSync(password, hash)))`

/** A thread, and what it works on. */
interface Thread {
  isOver(): boolean
  /** Settles with the task; false: the thread is gone. */
  perform(job: Job): Promise<boolean>
}

function start(): Thread {
  const worker = new Worker(PROGRAM, { eval: true, workerData: BCRYPT, execArgv: [], env: {} })
  let isOver = false
  let current: { readonly job: Job; done(isUsable: boolean): void } | null = null
  const settle = (isUsable: boolean, tell: (job: Job) => void): void => {
    const ended = current
    current = null
    // It is waited for while it works, and otherwise keeps no process alive.
    worker.unref()
    if (!ended) return
    tell(ended.job)
    ended.done(isUsable)
  }
  worker.on('message', (result: unknown) => settle(true, ({ resolve }) => resolve(result)))
  // What a thread throws is no Error of this one.
  worker.on('error', cause =>
    settle(false, ({ reject }) => reject(new Error('a password could not be worked on', { cause }))),
  )
  worker.on('exit', code => {
    isOver = true
    settle(false, ({ reject }) => reject(new Error(`a thread for passwords ended with code ${code}`)))
  })
  return {
    isOver: () => isOver,
    perform: job =>
      new Promise(done => {
        current = { job, done }
        worker.ref()
        worker.postMessage(job.task)
      }),
  }
}
