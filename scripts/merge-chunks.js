import { writeFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { build } from 'esbuild'

/** Most bytes of a merged file, but for one larger chunk. */
const MAX_BYTES = 400_000

/**
 * Merges all chunks that the entries `loaded` import into a few files `into-0.js`, `into-1.js` …: splitting makes a file of each
 * set of entries that share code, and reading a hundred files takes longer than to compile them. Compiling one file of 2 MB would
 * take 8 MB more memory, which the process keeps. The chunks remain as re-exports, because lazily loaded code imports them, too.
 * Those that the entry `apart` needs remain what they are. Returns the names of the merged files.
 */
export async function mergeChunks(outputs, { folder, into, loaded, apart, options }) {
  const kept = closureOf([entryOf(outputs, apart)], outputs)
  const merged = closureOf(
    loaded.map(entry => entryOf(outputs, entry)),
    outputs,
  )
  const groups = toGroups(
    [...merged].filter(path => !kept.has(path)),
    outputs,
  )
  const files = groups.map((_, index) => `${into}-${index}.js`)
  /** By chunk: its merged file, and the prefix of its exports there. */
  const places = new Map()
  for (const [index, paths] of groups.entries())
    for (const path of paths)
      places.set(basename(path), { file: files[index], prefix: `c${places.size}_`, output: outputs[path] })
  for (const [index, paths] of groups.entries())
    await build({
      ...options,
      stdin: { contents: paths.map(path => exportAll(basename(path), places)).join(''), resolveDir: folder },
      outfile: join(folder, files[index]),
      bundle: true,
      plugins: [within(folder, { files, index, places })],
    })
  for (const name of places.keys()) writeFileSync(join(folder, name), reexport(name, places))
  return files
}

function entryOf(outputs, source) {
  const found = Object.keys(outputs).find(path => outputs[path].entryPoint === source)
  if (!found) throw new Error(`${source} is no entry of the build: no code imports it lazily.`)
  return found
}

/** These and the chunks that they import statically, each after those that it imports. */
function closureOf(paths, outputs, found = new Set(), entered = new Set()) {
  for (const path of paths) {
    if (entered.has(path)) continue
    entered.add(path)
    const next = outputs[path].imports.filter(
      ({ kind, external }) => kind === 'import-statement' && !external,
    )
    closureOf(
      next.map(each => each.path),
      outputs,
      found,
      entered,
    )
    found.add(path)
  }
  return found
}

/** Consecutive chunks of at most MAX_BYTES together. */
function toGroups(paths, outputs) {
  const groups = []
  let size = Number.POSITIVE_INFINITY
  for (const path of paths) {
    const { bytes } = outputs[path]
    if (size + bytes > MAX_BYTES) {
      groups.push([])
      size = 0
    }
    size += bytes
    groups.at(-1).push(path)
  }
  return groups
}

function exportAll(name, places) {
  const { prefix, output } = places.get(name)
  return `export { ${output.exports.map(each => `${each} as ${prefix}${each}`).join(', ')} } from './${name}'\n`
}

function reexport(name, places) {
  const { file, prefix, output } = places.get(name)
  return `export { ${output.exports.map(each => `${prefix}${each} as ${each}`).join(', ')} } from './${file}'\n`
}

/** The chunks of one merged file are bundled, and those of earlier ones imported from there. All else stays an import. */
const within = (folder, { files, index, places }) => ({
  name: 'within',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /.*/ }, ({ path, kind }) => {
      const place = kind === 'import-statement' && path.startsWith('./') && places.get(basename(path))
      if (!place) return { path, external: true }
      const at = files.indexOf(place.file)
      if (at > index)
        throw new Error(`${files[index]} would import ${path} of ${place.file}, which imports it.`)
      return at === index
        ? { path: resolve(folder, path) }
        : { path: basename(path), namespace: 'earlier', sideEffects: true }
    })
    onLoad({ filter: /.*/, namespace: 'earlier' }, ({ path }) => ({
      contents: reexport(path, places),
      resolveDir: folder,
    }))
  },
})
