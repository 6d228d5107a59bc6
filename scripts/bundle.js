import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { basename, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import ts from 'typescript'
import { lowerSpreads } from './lower-spreads.js'
import { mergeChunks } from './merge-chunks.js'
import { describePackages } from './third-party.js'

// Bundles core/ and tools/ into dist/run/, with the packages that package.json has as development dependencies: an installation has
// fewer packages, and a start reads a few files instead of several hundred. Its dependencies stay packages of their own, and lazily
// imported code stays in files of its own.
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

const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const packages = Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies })

const options = {
  platform: 'node',
  format: 'esm',
  target: 'node20.19',
  sourcemap: true,
  metafile: true,
  logLevel: 'warning',
  absWorkingDir: root,
}

/** CommonJS within a module cannot `require` what belongs to Node. */
const builtins = {
  name: 'builtins',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^[\w:/]+$/ }, ({ path, kind }) =>
      kind === 'require-call' && isBuiltin(path) ? { path, namespace: 'builtin' } : undefined,
    )
    onLoad({ filter: /.*/, namespace: 'builtin' }, ({ path }) => ({
      contents: `module.exports = process.getBuiltinModule('${path}')`,
    }))
  },
}

/** A module that finds its WebAssembly next to itself: both files are copied. */
const SQLITE = 'node-sqlite3-wasm'
const copied = {
  name: 'copied',
  setup({ onResolve }) {
    onResolve({ filter: new RegExp(`^${SQLITE}$`) }, () => ({ path: `./${SQLITE}.cjs`, external: true }))
  },
}

/** TypeScript with object literals that all versions of Node are fast with. */
const lowered = {
  name: 'lowered',
  setup({ onLoad }) {
    onLoad({ filter: /\.ts$/ }, ({ path }) => {
      const text = readFileSync(path, 'utf8')
      const file = ts.createSourceFile(path, text, ts.ScriptTarget.ESNext)
      return { contents: lowerSpreads(text, file), loader: 'ts' }
    })
  },
}

const { metafile } = await build({
  ...options,
  entryPoints: ENTRIES.map(entry => join(root, entry)),
  // All of one depth: package.json lies two folders above each (core/base/product.ts).
  entryNames: '[name]',
  outdir: folder,
  bundle: true,
  splitting: true,
  external: packages.flatMap(name => [name, `${name}/*`]),
  plugins: [builtins, copied, lowered],
})

const started = await mergeChunks(metafile.outputs, {
  folder,
  into: 'started',
  loaded: ['tools/cli/start.ts', 'tools/cli/terminal.ts'],
  apart: 'tools/cli/main.ts',
  options,
})

const made = new Set([
  ...started.flatMap(name => [name, `${name}.map`]),
  ...Object.keys(metafile.outputs).map(path => basename(path)),
])
for (const name of readdirSync(folder))
  if (/\.js(\.map)?$/.test(name) && !made.has(name)) rmSync(join(folder, name))

const sqlite = join('node_modules', SQLITE, 'dist', SQLITE)
cpSync(join(root, `${sqlite}.js`), join(folder, `${SQLITE}.cjs`))
cpSync(join(root, `${sqlite}.wasm`), join(folder, `${SQLITE}.wasm`))

// core/ loads these by their path at run time, so each is a file (core/base/package-file.ts).
const names = JSON.parse(readFileSync(join(root, 'scripts', 'required-packages.json'), 'utf8'))
const required = await build({
  ...{ ...options, format: 'cjs', sourcemap: false, minify: true, bundle: true, outdir: folder },
  ...{ entryPoints: names.map(name => ({ in: name, out: basename(name) })), outExtension: { '.js': '.cjs' } },
})

const inputs = [...Object.keys(metafile.inputs), ...Object.keys(required.metafile.inputs), `${sqlite}.js`]
writeFileSync(join(root, 'dist', 'THIRD-PARTY.md'), describePackages(inputs, root))

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

// The last step: bin/plinth.js compares its time with that of the sources.
await import(pathToFileURL(join(folder, 'print-grammar.js')).href)
for (const name of readdirSync(folder))
  if (/^grammar-.*\.cjs$/.test(name)) await bundleGrammar(join(folder, name))

/** The validator requires two functions of ajv. */
async function bundleGrammar(file) {
  await build({
    ...{ entryPoints: [file], outfile: file, allowOverwrite: true, bundle: true, minify: true },
    ...{ platform: 'node', format: 'cjs', target: 'node20.19', logLevel: 'warning' },
  })
}
