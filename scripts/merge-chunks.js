import { writeFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { build } from 'esbuild'

/**
 * Merges all chunks that the entries `loaded` import into the one file `into`: splitting makes a file of each set of entries that
 * share code, and reading a hundred files takes longer than to compile them. The chunks remain as re-exports, because lazily loaded
 * code imports them, too. Those that the entry `apart` needs remain what they are.
 */
export async function mergeChunks(outputs, { folder, into, loaded, apart, options }) {
  const kept = closureOf([entryOf(outputs, apart)], outputs)
  const merged = [
    ...closureOf(
      loaded.map(entry => entryOf(outputs, entry)),
      outputs,
    ),
  ].filter(path => !kept.has(path))
  const names = new Map(merged.map((path, index) => [basename(path), `c${index}_`]))
  const { metafile } = await build({
    ...options,
    stdin: {
      contents: merged.map(path => exportAll(outputs[path], basename(path), names)).join(''),
      resolveDir: folder,
    },
    outfile: join(folder, into),
    bundle: true,
    plugins: [within(folder, new Set(names.keys()))],
  })
  for (const path of merged)
    writeFileSync(join(folder, basename(path)), importAll(outputs[path], basename(path), { names, into }))
  return metafile
}

function entryOf(outputs, source) {
  const found = Object.keys(outputs).find(path => outputs[path].entryPoint === source)
  if (!found) throw new Error(`${source} is no entry of the build: no code imports it lazily.`)
  return found
}

/** The chunks that these import statically, and these themselves. */
function closureOf(paths, outputs, found = new Set()) {
  for (const path of paths) {
    if (found.has(path)) continue
    found.add(path)
    const next = outputs[path].imports.filter(
      ({ kind, external }) => kind === 'import-statement' && !external,
    )
    closureOf(
      next.map(each => each.path),
      outputs,
      found,
    )
  }
  return found
}

const exportAll = ({ exports }, name, names) =>
  `export { ${exports.map(each => `${each} as ${names.get(name)}${each}`).join(', ')} } from './${name}'\n`

const importAll = ({ exports }, name, { names, into }) =>
  `export { ${exports.map(each => `${names.get(name)}${each} as ${each}`).join(', ')} } from './${into}'\n`

/** Everything but these files of the folder stays an import. */
const within = (folder, merged) => ({
  name: 'within',
  setup({ onResolve }) {
    onResolve({ filter: /.*/ }, ({ path, kind }) =>
      kind === 'import-statement' && path.startsWith('./') && merged.has(basename(path))
        ? { path: resolve(folder, path) }
        : { path, external: true },
    )
  },
})
