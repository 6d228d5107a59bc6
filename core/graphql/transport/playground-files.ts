import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** A third-party file of the playground: GraphiQL or React. */
export interface PlaygroundFile {
  readonly type: string
  /** The location of its package.json, and the path in the package. */
  readonly from: readonly [() => string, string]
}

const require = createRequire(import.meta.url)
const graphiql = () => require.resolve('graphiql/package.json')
const react = () => require.resolve('react/package.json')
const reactDom = () => require.resolve('react-dom/package.json')

const SCRIPT = 'text/javascript; charset=utf-8'
const STYLE = 'text/css; charset=utf-8'

/** Files by the last segment of their URL. */
export const PLAYGROUND_FILES: ReadonlyMap<string, PlaygroundFile> = new Map([
  ['react.js', { type: SCRIPT, from: [react, 'umd/react.production.min.js'] }],
  ['react-dom.js', { type: SCRIPT, from: [reactDom, 'umd/react-dom.production.min.js'] }],
  ['graphiql.js', { type: SCRIPT, from: [graphiql, 'graphiql.min.js'] }],
  ['graphiql.css', { type: STYLE, from: [graphiql, 'graphiql.min.css'] }],
])

/** The file's path in node_modules, from which a build copies it. */
export const sourceOf = ({ from: [locate, path] }: PlaygroundFile): string => join(dirname(locate()), path)

/** Reads a file: a build has copies next to this module, so that users need not install the packages. */
export async function readPlaygroundFile(name: string, file: PlaygroundFile): Promise<Buffer> {
  const copy = fileURLToPath(new URL(`./playground/${name}`, import.meta.url))
  try {
    return await readFile(copy)
  } catch (error) {
    if (!(error instanceof Error) || !('code' in error) || error.code !== 'ENOENT') throw error
    return readFile(sourceOf(file))
  }
}
