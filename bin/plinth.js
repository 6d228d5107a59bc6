#!/usr/bin/env node
// Runs the built command line; in a source checkout builds it first when core/ or tools/ is newer than dist/.
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))

function newest(folder) {
  let latest = 0
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    latest = Math.max(latest, entry.isDirectory() ? newest(path) : statSync(path).mtimeMs)
  }
  return latest
}

/** When the last build was done: of its last step, dist/run/print-grammar.js. */
function builtAt() {
  const folder = join(root, 'dist', 'run')
  const printed = existsSync(folder) ? readdirSync(folder).filter(name => /^grammar-.*\.cjs$/.test(name)) : []
  return Math.max(0, ...printed.map(name => statSync(join(folder, name)).mtimeMs))
}

const existsHere = (...path) => existsSync(join(root, ...path))

function buildIfStale() {
  if (!existsHere('core') || !existsHere('node_modules', 'esbuild')) return
  const changed = Math.max(
    newest(join(root, 'core')),
    newest(join(root, 'tools')),
    statSync(join(root, 'project.schema.json')).mtimeMs,
  )
  if (builtAt() >= changed) return
  process.stderr.write('Building Plinth from its sources, once …\n')
  run(join(root, 'scripts', 'bundle.js'))
  run(join(root, 'dist', 'run', 'print-grammar.js'))
}

function run(...command) {
  const { status } = spawnSync(process.execPath, command, { stdio: 'inherit' })
  if (status !== 0) process.exit(1)
}

buildIfStale()
await import('../dist/run/main.js')
