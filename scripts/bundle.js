import { readdirSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

// Lays core/ into a hundred files of dist/run/: a start reads a dozen of them instead of several hundred, with a third less work and
// less memory. Packages stay outside; what is loaded late stays apart.
const root = fileURLToPath(new URL('..', import.meta.url))
const folder = join(root, 'dist', 'run')

/** Those of package.json and bin/, and the build's own. */
const ENTRIES = ['index.ts', 'testing.ts', 'cli/main.ts', 'project/print-grammar.ts']

const { metafile } = await build({
  entryPoints: ENTRIES.map(entry => join(root, 'core', entry)),
  // All of one depth: package.json lies two folders above each (core/base/product.ts).
  entryNames: '[name]',
  outdir: folder,
  bundle: true,
  splitting: true,
  packages: 'external',
  platform: 'node',
  format: 'esm',
  target: 'node20.19',
  sourcemap: true,
  metafile: true,
  logLevel: 'warning',
  absWorkingDir: root,
})

const made = new Set(Object.keys(metafile.outputs).map(path => basename(path)))
for (const name of readdirSync(folder))
  if (/\.js(\.map)?$/.test(name) && !made.has(name)) rmSync(join(folder, name))
