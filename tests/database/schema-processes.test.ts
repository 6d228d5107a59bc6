import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import test, { type ExecutionContext } from 'ava'
import { program } from '../harness/program.ts'
import { createDatabase, testServer } from '../harness/test-database.ts'

interface Place {
  readonly url: string
  readonly root: string
}

async function place(t: ExecutionContext): Promise<Place> {
  const root = mkdtempSync(join(tmpdir(), 'plinth-start-'))
  t.teardown(() => rmSync(root, { recursive: true, force: true }))
  const server = testServer()
  return { root, url: server === undefined ? 'embedded' : await createDatabase(t, server) }
}

/** A process that dies without a word must fail the test, not keep it waiting. */
const soon = () => ({ signal: AbortSignal.timeout(90_000) })

interface Start {
  readonly child: ChildProcess
  /** Resolves with how many steps it did. */
  go(): Promise<number>
}

const STARTER = program('tests/database/fixtures/start-schema.ts')

/** A process of its own that is about to start, with so many content-types. */
async function aboutToStart(t: ExecutionContext, { url, root }: Place, types: number): Promise<Start> {
  const child = spawn(process.execPath, [...STARTER, url, root, String(types)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  t.teardown(() => child.kill('SIGKILL'))
  const lines = createInterface({ input: child.stdout })
  await once(lines, 'line', soon())
  const go = async () => {
    child.stdin.write('go\n')
    const [line] = await once(lines, 'line', soon())
    return Number(line)
  }
  return { child, go }
}

test.serial('processes that start concurrently migrate an empty database once', async t => {
  const where = await place(t)
  // One process at a time has an embedded database: there the second starts when the first is done.
  const waits = where.url === 'embedded'
  const starts: Start[] = []
  const steps: number[] = []
  for (let process = 0; process < 3; process++) {
    const start = await aboutToStart(t, where, 5)
    if (waits) {
      steps.push(await start.go())
      if (start.child.exitCode === null) await once(start.child, 'exit', soon())
    } else starts.push(start)
  }
  steps.push(...(await Promise.all(starts.map(start => start.go()))))
  t.is(steps.filter(count => count > 0).length, 1)
  t.is(steps.filter(count => count === 0).length, 2)
})

test.serial('a start that is killed at any moment leaves no partial migration', async t => {
  const where = await place(t)
  const done: number[] = []
  // Each adds types to what the one before left.
  for (const [round, patience] of [5, 40, 120, 300].entries()) {
    const { child, go } = await aboutToStart(t, where, 20 * (round + 1))
    void go().catch(() => undefined)
    await sleep(patience)
    child.kill('SIGKILL')
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit', soon())
    const next = await aboutToStart(t, where, 20 * (round + 1))
    done.push(await next.go())
    if (next.child.exitCode === null) await once(next.child, 'exit', soon())
  }
  // Two tables a type; all of a round's, or none where the one that was killed had committed.
  t.true(
    done.every((count, round) => count === 0 || count === (round === 0 ? done[0] : 40)),
    String(done),
  )
  const last = await aboutToStart(t, where, 80)
  t.is(await last.go(), 0)
})
