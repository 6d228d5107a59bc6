import { spawn } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { build } from '../tests/build/build.js'
import { builtOf } from '../tests/build/place.cjs'

// `npm test`: all tests, in several processes of ava, because a process on the embedded database keeps one core busy. With
// arguments (`npm test -- tests/rest/filters.test.ts`), with a server or inside a share of .ci/run it is ava itself.

const root = fileURLToPath(new URL('..', import.meta.url))

const AVA = join(root, 'node_modules', 'ava', 'entrypoints', 'cli.mjs')

const { TEST_DATABASE_URL, CI_NODE_TOTAL } = process.env

const args = process.argv.slice(2)

/** More shares than processes, so that no process idles while another one has the expensive files. */
const SHARES_PER_PROCESS = 4

const ends = child => new Promise(resolve => child.on('close', code => resolve(code ?? 1)))

async function runShares() {
  await prepare()
  const progress = openProgress(countFiles())
  const processes = Math.min(4, availableParallelism())
  const shares = Array.from({ length: processes * SHARES_PER_PROCESS }, (_none, index) => index)
  const total = shares.length
  const worker = async () => {
    for (let share = shares.shift(); share !== undefined; share = shares.shift())
      await runShare(share, total, progress)
  }
  await Promise.all(Array.from({ length: processes }, worker))
  return progress.finish()
}

/** What all processes would otherwise make at the same time: the built tests and the files of an empty database. */
async function prepare() {
  await build()
  const { snapshot } = await import(builtOf(join(root, 'tests', 'harness', 'embedded-files.ts')))
  await snapshot()
}

const countFiles = () =>
  readdirSync(join(root, 'tests'), { recursive: true }).filter(
    name => name.endsWith('.test.ts') && !name.startsWith('server'),
  ).length

async function runShare(index, total, progress) {
  const env = {
    ...process.env,
    CI: 'true',
    CI_NODE_INDEX: String(index),
    CI_NODE_TOTAL: String(total),
    NO_COLOR: '1',
  }
  const child = spawn(process.execPath, [AVA, '--tap'], { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] })
  const errors = []
  child.stderr.on('data', bytes => errors.push(bytes))
  const share = progress.open()
  createInterface({ input: child.stdout }).on('line', share.line)
  const code = await ends(child)
  share.close(code, Buffer.concat(errors).toString())
}

/** Prints `[files of all files] tests` as they end, and each failure in full. */
function openProgress(files) {
  const began = Date.now()
  const done = { files: 0, passed: 0, failed: 0 }
  const failures = []
  const state = () =>
    `[${done.files} of ${files} files, ${Math.round((Date.now() - began) / 1000)} s] ${done.passed} passed, ${done.failed} failed`
  const show = process.stdout.isTTY
    ? () => process.stdout.write(`\r\u001b[K${state()}`)
    : () => process.stdout.write(`${state()}\n`)
  const open = () => {
    let file
    let failure
    let hasTests = false
    const report = () => {
      if (failure) process.stdout.write(`\n✘ ${failure.join('\n')}\n`)
    }
    const line = text => {
      const [, no, title] = /^(not )?ok \d+ - (.*)$/.exec(text) ?? []
      if (title === undefined) {
        if (failure) failure.push(text)
        return
      }
      hasTests = true
      report()
      failure = undefined
      // ava puts the names of folders and file before the title.
      const name = title.split(' › ').slice(0, -1).join(' › ')
      if (file !== undefined && name !== file) {
        done.files++
        show()
      }
      file = name
      if (no === undefined) done.passed++
      else {
        done.failed++
        failure = [title]
        failures.push(failure)
      }
    }
    const close = (code, errors) => {
      report()
      if (file !== undefined) done.files++
      if (code !== 0 && (failures.length === 0 || !hasTests)) {
        done.failed++
        failure = [`A process of the tests ended with code ${code}`, errors]
        failures.push(failure)
        report()
      }
      show()
    }
    return { line, close }
  }
  const finish = () => {
    for (const [title] of failures) process.stdout.write(`\n✘ ${title}`)
    process.stdout.write(
      `\n${done.passed} tests passed, ${done.failed} failed in ${Math.round((Date.now() - began) / 1000)} s\n`,
    )
    return done.failed === 0 ? 0 : 1
  }
  return { open, finish }
}

if (args.length > 0 || TEST_DATABASE_URL || CI_NODE_TOTAL)
  process.exitCode = await ends(spawn(process.execPath, [AVA, ...args], { stdio: 'inherit', cwd: root }))
else process.exitCode = await runShares()
