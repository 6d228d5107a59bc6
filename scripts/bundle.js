import { cpSync, readdirSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build } from 'esbuild'

// Bundles core/ and tools/ into about a hundred files of dist/run/, so that a start reads a dozen files instead of several
// hundred. Packages stay external; lazily imported code stays in files of its own.
const root = fileURLToPath(new URL('..', import.meta.url))
const folder = join(root, 'dist', 'run')

/** Those of package.json and bin/, and the build's own. */
const ENTRIES = [
  'core/index.ts',
  'core/testing.ts',
  'tools/cli/main.ts',
  'core/project/grammar/print-grammar.ts',
  'core/database/embedded/prepare-files.ts',
]

const { metafile } = await build({
  entryPoints: ENTRIES.map(entry => join(root, entry)),
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

// The template `example` (tools/cli/init.ts) is the project in the root folder.
const example = join(root, 'dist', 'example')
rmSync(example, { recursive: true, force: true })
const parts = [
  'project.yaml',
  'content',
  'policies',
  'middlewares',
  'extensions',
  'mails',
  'tests/permissions.yaml',
]
for (const part of parts) cpSync(join(root, part), join(example, part), { recursive: true })

// `plinth client` copies these sources (tools/cli/types/client.ts).
for (const file of ['core/plugins/document-types.ts', 'tools/cli/types/client-runtime.ts'])
  cpSync(join(root, file), join(root, 'dist', 'client', basename(file)))

// An embedded database's first start unpacks these files instead of running initdb. Made once for each version of PGlite.
await import(pathToFileURL(join(folder, 'prepare-files.js')).href)
