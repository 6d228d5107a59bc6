import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import { once } from './memo.ts'
import { packageFile } from './package-file.ts'

/** Rejects a task if the queue is full. The client should retry later. */
export class PasswordQueueFull extends Error {
  constructor() {
    super('too many passwords are waiting to be checked')
    this.name = 'PasswordQueueFull'
  }
}

/** Rejects a task if the system has no thread for it: a limit of processes or memory. The client should retry later. */
export class PasswordThreadFailed extends Error {
  constructor(cause: unknown) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    super(`no worker thread for passwords: ${reason}`, { cause })
    this.name = 'PasswordThreadFailed'
  }
}

interface PasswordPool {
  hash(password: string, cost: number): Promise<string>
  /** True if the password matches the hash. */
  compare(password: string, hash: string): Promise<boolean>
}

/** One call of bcrypt: about 50 ms of CPU time. */
type BcryptTask =
  | { readonly task: 'hash'; readonly password: string; readonly cost: number }
  | { readonly task: 'compare'; readonly password: string; readonly hash: string }

interface PoolOptions {
  readonly threads: number
  /** Tasks that may wait, in addition to those that run. */
  readonly maxQueued: number
}

/** Leaves at least one core to the event loop. */
const DEFAULT_POOL: PoolOptions = { threads: availableParallelism() > 2 ? 2 : 1, maxQueued: 100 }

interface Job {
  readonly task: BcryptTask
  resolve(result: unknown): void
  reject(error: Error): void
}

/**
 * Runs bcrypt in worker threads, so that it does not block the event loop. A thread starts with the first task, runs one
 * task at a time, and is replaced when it fails. Tasks run in order of arrival (FIFO).
 */
export function openPasswordPool({ threads, maxQueued }: PoolOptions = DEFAULT_POOL): PasswordPool {
  const queue: Job[] = []
  const idle: Thread[] = []
  let running = 0

  const takeIdle = (): Thread | undefined => {
    let thread = idle.pop()
    while (thread?.hasExited()) thread = idle.pop()
    return thread
  }
  const takeThread = (): Thread | undefined => {
    try {
      return takeIdle() ?? startThread()
    } catch (error) {
      // Threads that run take the waiting tasks later.
      if (running === 0) for (const { reject } of queue.splice(0)) reject(new PasswordThreadFailed(error))
      return undefined
    }
  }
  const next = (): void => {
    if (queue.length === 0 || (idle.length === 0 && running >= threads)) return
    const thread = takeThread()
    const job = thread && queue.shift()
    if (!job) return
    running++
    void thread.perform(job).then(isUsable => {
      running--
      if (isUsable) idle.push(thread)
      next()
    })
  }
  const run = (task: BcryptTask): Promise<unknown> =>
    new Promise((resolve, reject) => {
      if (running >= threads && queue.length >= maxQueued) return reject(new PasswordQueueFull())
      queue.push({ task, resolve, reject })
      next()
    })
  return {
    hash: async (password, cost) => String(await run({ task: 'hash', password, cost })),
    compare: async (password, hash) => (await run({ task: 'compare', password, hash })) === true,
  }
}

/** The absolute path of bcryptjs: an evaluated worker has no file to resolve imports from. */
const bcryptPath = once((): string => packageFile('bcryptjs'))

/** The worker's program as text, so that it runs the same from sources, from the build and in tests. */
const WORKER_SOURCE = `
const { parentPort, workerData } = require('node:worker_threads')
const { compareSync, hashSync } = require(workerData)
parentPort.on('message', ({ task, password, cost, hash }) =>
  parentPort.postMessage(task === 'hash' ? hashSync(password, cost) : compareSync(password, hash)))`

/** A worker thread with its current task. */
interface Thread {
  hasExited(): boolean
  /** Resolves when the task has ended; false: the thread has exited. */
  perform(job: Job): Promise<boolean>
}

function startThread(): Thread {
  const worker = new Worker(WORKER_SOURCE, { eval: true, workerData: bcryptPath(), execArgv: [], env: {} })
  let hasExited = false
  let current: { readonly job: Job; done(isUsable: boolean): void } | null = null
  const settle = (isUsable: boolean, settleJob: (job: Job) => void): void => {
    const ended = current
    current = null
    // An idle thread must not keep the process alive.
    worker.unref()
    if (!ended) return
    settleJob(ended.job)
    ended.done(isUsable)
  }
  worker.on('message', (result: unknown) => settle(true, ({ resolve }) => resolve(result)))
  // An error of another thread is a copy without this thread's classes, so wrap it.
  // Errors of the system have a code, those of bcrypt have none.
  worker.on('error', cause =>
    settle(false, ({ reject }) =>
      reject(
        'code' in cause
          ? new PasswordThreadFailed(cause)
          : new Error('bcrypt failed in a worker thread', { cause }),
      ),
    ),
  )
  worker.on('exit', code => {
    hasExited = true
    settle(false, ({ reject }) => reject(new Error(`a worker thread for passwords exited with code ${code}`)))
  })
  return {
    hasExited: () => hasExited,
    perform: job =>
      new Promise(done => {
        current = { job, done }
        worker.ref()
        worker.postMessage(job.task)
      }),
  }
}

/** One pool per process. */
const pool = openPasswordPool()

/** bcrypt's cost factor: 2^10 rounds, about 50 ms on one core. Strapi uses the same. */
const COST = 10

/** bcrypt ignores all further bytes, so a longer password would be truncated silently. */
const MAX_PASSWORD_BYTES = 72

/** False if bcrypt would ignore the end of the password. */
export const fitsPassword = (password: string): boolean =>
  Buffer.byteLength(password, 'utf8') <= MAX_PASSWORD_BYTES

/** The bcrypt hash (60 characters) of a password. Throws RangeError for more than 72 bytes, PasswordQueueFull under overload. */
export async function hashPassword(password: string): Promise<string> {
  if (!fitsPassword(password)) throw new RangeError(`a password has at most ${MAX_PASSWORD_BYTES} bytes`)
  return pool.hash(password, COST)
}

/** No password matches this hash. Comparing with it for unknown accounts takes the same time as for known ones. */
const DUMMY_HASH = '$2b$10$uqH.8te8dHybmS/ti3cYUefVKUPWnF53IKQNorX138nArGzFYkO/S'

type Compare = (password: string, hash: string) => Promise<boolean>

const compare: Compare = (password, hash) => pool.compare(password, hash)

/** True if the password matches the hash. null (no such account) takes the same time and never matches. `work`: for tests. */
export async function verifyPassword(
  password: string,
  hashed: string | null,
  work: Compare = compare,
): Promise<boolean> {
  const matches = await work(password, hashed ?? DUMMY_HASH)
  return matches && hashed !== null && fitsPassword(password)
}
