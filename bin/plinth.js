#!/usr/bin/env node
// Runs the built command line; in a source checkout builds it first when its sources are newer than dist/.
import { existsSync, readdirSync, statSync } from 'node:fs'
import * as nodeModule from 'node:module'
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

/** When the last build was done: of its last step. */
function builtAt() {
  const folder = join(root, 'dist', 'run')
  const printed = existsSync(folder) ? readdirSync(folder).filter(name => /^grammar-.*\.cjs$/.test(name)) : []
  return Math.max(0, ...printed.map(name => statSync(join(folder, name)).mtimeMs))
}

const existsHere = (...path) => existsSync(join(root, ...path))

async function buildIfStale() {
  if (!existsHere('core') || !existsHere('node_modules', 'esbuild')) return
  const changed = Math.max(
    newest(join(root, 'core')),
    newest(join(root, 'tools')),
    newest(join(root, 'scripts')),
    statSync(join(root, 'project.schema.json')).mtimeMs,
  )
  if (builtAt() >= changed) return
  process.stderr.write('Building Plinth from its sources, once …\n')
  const { spawnSync } = await import('node:child_process')
  const { status } = spawnSync(process.execPath, [join(root, 'scripts', 'bundle.js')], { stdio: 'inherit' })
  if (status !== 0) process.exit(1)
}

await buildIfStale()
// Node 22.8 and later keep the compiled code of this version next to it, if this user may write there.
nodeModule.enableCompileCache?.(join(root, '.compile-cache'))
await import('../dist/run/main.js')
