import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import pg from 'pg'

/** Milliseconds of processor time, until now. */
export type ProcessorTime = () => number

/** Of a process and those that it started: workers are its children. */
export const timeOfTree =
  (pid: number): ProcessorTime =>
  () =>
    treeOf(pid).reduce((sum, each) => sum + timeOf(each), 0)

/** Resident memory of a process and those that it started, in MB (10^6). */
export const memoryOfTree = (pid: number): number =>
  treeOf(pid).reduce((sum, each) => sum + residentOf(each), 0)

/**
 * Processor time of all processes of the PostgreSQL cluster of a database, which only the benchmark uses. Time of an
 * ended process, such as a parallel worker, is included in that of the postmaster.
 */
export async function timeOfPostgres(url: string): Promise<ProcessorTime> {
  const postmaster = await postmasterOf(url)
  return () => childrenOf(postmaster).reduce((sum, child) => sum + timeOf(child), timeOfEnded(postmaster))
}

/**
 * What all processes of that cluster hold each for itself, in MB (10^6): plans of prepared statements, sorts, what they
 * know of tables. The memory that they share is not counted.
 */
export async function memoryOfPostgres(url: string): Promise<() => number> {
  const postmaster = await postmasterOf(url)
  return () => childrenOf(postmaster).reduce((sum, child) => sum + ownOf(child), 0)
}

async function postmasterOf(url: string): Promise<number> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
  const postmaster = Number(/PPid:\s+(\d+)/.exec(read(`/proc/${rows[0]?.pid}/status`))?.[1])
  await client.end()
  assert(postmaster > 0, 'PostgreSQL does not run on this machine: its processor time cannot be read.')
  return postmaster
}

const treeOf = (pid: number): readonly number[] => [pid, ...childrenOf(pid).flatMap(treeOf)]

const childrenOf = (pid: number): readonly number[] =>
  threadsOf(pid)
    .flatMap(thread => read(`/proc/${pid}/task/${thread}/children`).split(' '))
    .filter(child => child !== '')
    .map(Number)

/** Of all threads, in nanoseconds as the scheduler counts them: ticks of 10 ms are too coarse for a short round. */
const timeOf = (pid: number): number =>
  threadsOf(pid).reduce(
    (sum, thread) => sum + Number(read(`/proc/${pid}/task/${thread}/schedstat`).split(' ')[0]) / 1e6,
    0,
  )

/** Of children that have ended, user and system; ticks of 10 ms. */
function timeOfEnded(pid: number): number {
  const stat = read(`/proc/${pid}/stat`)
  const [user = 0, system = 0] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(13, 15)
    .map(Number)
  return (user + system) * 10
}

const residentOf = (pid: number): number => memoryLine(pid, /VmRSS:\s+(\d+)/)
const ownOf = (pid: number): number => memoryLine(pid, /RssAnon:\s+(\d+)/)

/** In MB. */
const memoryLine = (pid: number, line: RegExp): number =>
  (Number(line.exec(read(`/proc/${pid}/status`))?.[1] ?? 0) * 1024) / 1e6

const threadsOf = (pid: number): readonly string[] => orGone(() => readdirSync(`/proc/${pid}/task`), [])

const read = (path: string): string => orGone(() => readFileSync(path, 'utf8'), '')

/** A process may end while it is looked at. */
function orGone<T>(look: () => T, gone: T): T {
  try {
    return look()
  } catch (error) {
    assert(error instanceof Error && 'code' in error)
    return gone
  }
}
