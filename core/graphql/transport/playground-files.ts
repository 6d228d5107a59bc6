import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** A file of the playground that others wrote: GraphiQL, and React which it runs on. */
export interface PlaygroundFile {
  readonly type: string
  /** Of the package that it comes from, and its path in there. */
  readonly from: readonly [() => string, string]
}

const require = createRequire(import.meta.url)
const graphiql = () => require.resolve('graphiql/package.json')
const react = () => require.resolve('react/package.json')
const reactDom = () => require.resolve('react-dom/package.json')

const SCRIPT = 'text/javascript; charset=utf-8'
const STYLE = 'text/css; charset=utf-8'

/** By the last part of their address. */
export const PLAYGROUND_FILES: ReadonlyMap<string, PlaygroundFile> = new Map([
  ['react.js', { type: SCRIPT, from: [react, 'umd/react.production.min.js'] }],
  ['react-dom.js', { type: SCRIPT, from: [reactDom, 'umd/react-dom.production.min.js'] }],
  ['graphiql.js', { type: SCRIPT, from: [graphiql, 'graphiql.min.js'] }],
  ['graphiql.css', { type: STYLE, from: [graphiql, 'graphiql.min.css'] }],
])

/** Where such a file lies in the packages that a build takes it from. */
export const sourceOf = ({ from: [locate, path] }: PlaygroundFile): string => join(dirname(locate()), path)

/** A build has copies beside this file, so that no user installs those packages; the source tree has the packages. */
export async function readPlaygroundFile(name: string, file: PlaygroundFile): Promise<Buffer> {
  const copy = fileURLToPath(new URL(`./playground/${name}`, import.meta.url))
  try {
    return await readFile(copy)
  } catch (error) {
    if (!(error instanceof Error) || !('code' in error) || error.code !== 'ENOENT') throw error
    return readFile(sourceOf(file))
  }
}
