import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { build, type Metafile } from 'esbuild'

const root = join(import.meta.dirname, '..')
const sources = join(root, 'tools', 'console')

export interface ConsoleBundle {
  readonly folder: string
  /** What the first screen loads: the entry first. */
  readonly files: readonly string[]
  readonly names: readonly string[]
}

/** `dist/console`: the shell, and below assets/ the files that it loads, with hashes of their content in their names. */
export async function bundleConsole(folder = join(root, 'dist', 'console')): Promise<ConsoleBundle> {
  mkdirSync(join(folder, 'assets'), { recursive: true })
  const { metafile, outputFiles } = await build({
    entryPoints: [join(sources, 'main.tsx')],
    outdir: join(folder, 'assets'),
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    assetNames: '[name]-[hash]',
    bundle: true,
    splitting: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    target: ['chrome123', 'firefox125', 'safari17.5'],
    jsx: 'automatic',
    define: { 'process.env.NODE_ENV': '"production"' },
    legalComments: 'none',
    metafile: true,
    write: false,
    logLevel: 'warning',
    absWorkingDir: root,
  })
  for (const { path, contents } of outputFiles) if (!existsSync(path)) replaceFile(path, contents)
  const names = Object.keys(metafile.outputs).map(path => basename(path))
  const files = firstFiles(metafile)
  const styles = files.filter(name => name.endsWith('.css'))
  const scripts = files.filter(name => name.endsWith('.js'))
  const [entry, ...others] = scripts
  const html = readFileSync(join(sources, 'index.html'), 'utf8')
    .replace(
      '{{styles}}',
      styles.map(name => `<link rel="stylesheet" href="{{path}}/assets/${name}">`).join('\n'),
    )
    .replace(
      '{{scripts}}',
      [
        `<script type="module" src="{{path}}/assets/${entry}"></script>`,
        ...others.map(name => `<link rel="modulepreload" href="{{path}}/assets/${name}">`),
      ].join('\n'),
    )
  replaceFile(join(folder, 'index.html'), html)
  // Not before the build: another process may read the same files, which have the same names and content.
  const made = new Set(names)
  for (const name of readdirSync(join(folder, 'assets')))
    if (/\.(js|css)$/.test(name) && !made.has(name)) rmSync(join(folder, 'assets', name), { force: true })
  return { folder, files, names }
}

/** A new file under the old name: a process that reads meanwhile, or has the old file by a hard link, sees one or the other. */
function replaceFile(path: string, content: string | Uint8Array): void {
  const written = `${path}.${process.pid}`
  writeFileSync(written, content)
  renameSync(written, path)
}

/** The entry and everything that it imports at once; what loads on demand is left out. */
function firstFiles({ outputs }: Metafile): readonly string[] {
  const [entry] = Object.entries(outputs).find(([, output]) => output.entryPoint?.endsWith('main.tsx')) ?? []
  const found: string[] = []
  const visit = (path: string | undefined): void => {
    if (path === undefined || found.includes(path)) return
    found.push(path)
    for (const { path: next, kind } of outputs[path]?.imports ?? [])
      if (kind === 'import-statement') visit(next)
  }
  visit(entry)
  const styles = entry === undefined ? undefined : outputs[entry]?.cssBundle
  return [...found, ...(styles === undefined ? [] : [styles])].map(path => basename(path))
}

if (process.argv[1] === import.meta.filename) await bundleConsole()
