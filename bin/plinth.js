#!/usr/bin/env node
// Runs the built command line; in a source checkout builds it first when core/ is newer than dist/.
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

function buildIfStale() {
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
  if (!existsSync(join(root, 'core')) || !existsSync(compiler)) return
  const stamp = join(root, 'dist', '.tsbuildinfo')
  if (existsSync(stamp) && statSync(stamp).mtimeMs >= newest(join(root, 'core'))) return
  process.stderr.write('Building Plinth from its sources, once …\n')
  const built = spawnSync(process.execPath, [compiler, '-p', join(root, 'tsconfig.build.json')], {
    stdio: 'inherit',
  })
  if (built.status !== 0) process.exit(1)
}

buildIfStale()
await import('../dist/cli/main.js')
