import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { HttpRequest, HttpResponse, Responder } from '../../faults/http-exchange.ts'
import type { GraphqlSettings } from '../../project/settings/settings.ts'

/** Serves GraphiQL to browsers, without files of other servers; in production only with `playgroundAlways` (reference/graphql.md#11-limits-playground-and-introspection). */
export function openPlayground(
  endpoint: string,
  { playgroundAlways }: Pick<GraphqlSettings['config'], 'playgroundAlways'>,
  production: boolean,
): Responder {
  if (production && !playgroundAlways) return () => null
  const folder = `${endpoint}/playground`
  const page: HttpResponse = {
    status: 200,
    body: printPage(folder),
    type: 'text/html; charset=utf-8',
    headers: { 'Content-Security-Policy': PAGE_POLICY, 'Cache-Control': 'no-cache', Vary: 'Accept' },
  }
  return request => {
    if (request.method !== 'GET' && request.method !== 'HEAD') return null
    if (request.path.startsWith(`${folder}/`)) return answerFile(request.path.slice(folder.length + 1))
    return isEndpoint(request, endpoint) && wantsPage(request) ? page : null
  }
}

const isEndpoint = ({ path }: HttpRequest, endpoint: string): boolean =>
  path === endpoint || path === `${endpoint}/`

const wantsPage = ({ headers }: HttpRequest): boolean => headers.accept?.includes('text/html') ?? false

function answerFile(name: string): Promise<HttpResponse> | HttpResponse | null {
  if (name === 'start.js')
    return { status: 200, body: START_SCRIPT, type: 'text/javascript; charset=utf-8', ...REVALIDATED }
  const file = PLAYGROUND_FILES.get(name)
  if (!file) return null
  return readPlaygroundFile(name, file).then(body => ({ status: 200, body, type: file.type, ...REVALIDATED }))
}

/** Browsers revalidate their copy by its ETag. */
const REVALIDATED = { headers: { 'Cache-Control': 'no-cache' }, hasEtag: true } as const

/** Content-Security-Policy of the playground: nothing from other servers. GraphiQL needs inline styles. */
const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  'font-src data:',
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'self'",
].join('; ')

/** The light theme of GraphiQL has less contrast than text needs to be readable; its dark theme overrides the hues. */
const READABLE_COLORS =
  '--alpha-secondary: 0.9; --alpha-tertiary: 0.8; --color-primary: 320, 95%, 38%; --color-tertiary: 188, 100%, 24%; --color-info: 208, 100%, 36%; --color-success: 158, 100%, 22%; --color-warning: 36, 100%, 26%; --color-error: 13, 93%, 38%'

/** The page of GraphiQL. `folder`: the URL path of its files. */
const printPage = (folder: string): string => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>GraphiQL</title>
    <link rel="icon" href="data:," />
    <link rel="stylesheet" href="${folder}/graphiql.css" />
    <style>
      body { margin: 0 }
      #graphiql { height: 100dvh }
      .graphiql-container, .graphiql-dialog, .CodeMirror-info, .CodeMirror-lint-tooltip { ${READABLE_COLORS} }
    </style>
  </head>
  <body>
    <div id="graphiql">Loading …</div>
    <script src="${folder}/react.js"></script>
    <script src="${folder}/react-dom.js"></script>
    <script src="${folder}/graphiql.js"></script>
    <script src="${folder}/start.js"></script>
  </body>
</html>
`

/** Starts GraphiQL with the page's URL as endpoint, and shows the query of its query string. */
const START_SCRIPT = `const asked = new URLSearchParams(location.search)
const fetcher = GraphiQL.createFetcher({ url: location.pathname })
const graphiql = React.createElement(GraphiQL, {
  fetcher,
  query: asked.get('query') ?? undefined,
  variables: asked.get('variables') ?? undefined,
})
const page = document.getElementById('graphiql')

// Editors without a label, texts that only a mouse scrolls, and tabs with buttons in them: screen readers need others.
function repairAccessibility() {
  for (const field of page.querySelectorAll('.CodeMirror textarea'))
    field.ariaLabel ??= field.closest('[aria-label]')?.ariaLabel ?? 'Editor'
  for (const text of page.querySelectorAll('.CodeMirror-scroll')) if (text.tabIndex < 0) text.tabIndex = 0
  for (const list of page.querySelectorAll('[role=tablist]')) list.removeAttribute('role')
  for (const tab of page.querySelectorAll('[role=tab], .graphiql-tab[aria-selected]')) {
    tab.querySelector('button').ariaCurrent = tab.ariaSelected
    tab.removeAttribute('role')
    tab.removeAttribute('aria-selected')
  }
}
const attributes = ['role', 'aria-selected']
new MutationObserver(repairAccessibility).observe(page, { childList: true, subtree: true, attributeFilter: attributes })
ReactDOM.createRoot(page).render(graphiql)
`

/** A third-party file of the playground: GraphiQL or React. */
interface PlaygroundFile {
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
async function readPlaygroundFile(name: string, file: PlaygroundFile): Promise<Buffer> {
  const copy = fileURLToPath(new URL(`./playground/${name}`, import.meta.url))
  try {
    return await readFile(copy)
  } catch (error) {
    if (!(error instanceof Error) || !('code' in error) || error.code !== 'ENOENT') throw error
    return readFile(sourceOf(file))
  }
}
