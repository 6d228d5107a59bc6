import { createHash } from 'node:crypto'
import type { Caller } from '../access/caller.ts'
import { once } from '../base/memo.ts'
import { PRODUCT_VERSION } from '../base/product.ts'
import { escapeHtml } from '../base/text.ts'
import { notFound } from '../faults/fault.ts'
import type { HttpRequest, HttpResponse, Responder } from '../faults/http-exchange.ts'
import { apiIdOf, type ContentType, type Model } from '../model/model.ts'
import { servesConsole, servesOpenapi, servesReference } from '../openapi/open-openapi.ts'
import type { Settings } from '../project/settings/settings.ts'

export interface BrowserPagesOptions {
  readonly settings: Settings
  readonly model: Model
  readonly publicCaller: Caller
  readonly production: boolean
  /** The first parts of paths whose unknown addresses are answered as JSON to browsers, too. */
  readonly apiPaths: readonly string[]
}

/** In production the landing page names parts of the project: the project has to ask for it. */
export const servesLandingPage = (
  { landingPage }: Pick<Settings['server'], 'landingPage'>,
  production: boolean,
): boolean => landingPage === 'always' || (landingPage === 'development' && !production)

/**
 * Pages for browsers at addresses that no other part of the server answers: the landing page at `/`, its icon, and a
 * page for unknown addresses. Clients that do not prefer HTML get JSON there.
 */
export function openBrowserPages(options: BrowserPagesOptions): Responder {
  const hasLanding = servesLandingPage(options.settings.server, options.production)
  const landing = once(() => answerPage(200, printLanding(options)))
  const missing = once(() => answerPage(404, printMissing(hasLanding)))
  const api = options.apiPaths.filter(path => path !== '/').map(path => `${path}/`.toLowerCase())
  return request => {
    const { path, method, headers } = request
    if (method !== 'GET' && method !== 'HEAD') return null
    if (hasLanding && path === ICON_PATH) return answerAs(request, 'icon', ICON)
    if (!prefersHtml(headers.accept)) return null
    if (hasLanding && path === '/') return answerAs(request, 'landing', landing())
    const asked = `${path}/`.toLowerCase()
    return api.some(start => asked.startsWith(start)) ? null : missing()
  }
}

function answerAs(request: HttpRequest, route: string, answer: HttpResponse): HttpResponse {
  request.route = route
  return answer
}

/**
 * Whether an Accept header gives HTML a higher quality than JSON. Browsers do when they open an address; `*` + `/*` of
 * scripts and command-line clients does not.
 */
export function prefersHtml(accept: string | undefined): boolean {
  if (!accept) return false
  const qualities = new Map(accept.toLowerCase().split(',').map(qualityOf))
  const html = qualities.get('text/html') ?? 0
  const json = ['application/json', 'application/*', '*/*'].map(type => qualities.get(type))
  return html > (json.find(quality => quality !== undefined) ?? 0)
}

/** RFC 9110, 12.5.1: the quality is 1 if the range has none. */
function qualityOf(range: string): readonly [string, number] {
  const [type = '', ...parameters] = range.split(';').map(part => part.trim())
  const quality = parameters.find(part => part.startsWith('q='))
  return [type, quality === undefined ? 1 : Number(quality.slice(2)) || 0]
}

const ICON_PATH = '/favicon.ico'

/** Browsers read the type from Content-Type, not from the name. */
const ICON: HttpResponse = {
  status: 200,
  body: '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path fill="#2456a6" d="M1 12h14v3H1zM3 8h10v3H3zM6 1h4v6H6z"/></svg>',
  type: 'image/svg+xml',
  headers: { 'Cache-Control': 'public, max-age=86400' },
}

const STYLE = `
:root { color-scheme: light dark }
body { margin: 0 auto; max-width: 56rem; padding: 2rem 1rem; font: 1rem/1.5 system-ui, sans-serif }
h1 { margin: 0; line-height: 1.2 }
h2 { margin: 2rem 0 .5rem; font-size: 1.25rem }
table { width: 100%; border-collapse: collapse }
th, td { padding: .4rem .5rem; border-bottom: 1px solid #8886; text-align: left; vertical-align: top }
code { font-family: ui-monospace, monospace }
ul { padding-left: 1.25rem }
`

const STYLE_HASH = once(() => createHash('sha256').update(STYLE).digest('base64'))

function answerPage(status: number, body: string): HttpResponse {
  const policy = [
    "default-src 'none'",
    `style-src 'sha256-${STYLE_HASH()}'`,
    "img-src 'self' data:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ]
  return {
    status,
    body,
    type: 'text/html; charset=utf-8',
    headers: { 'Content-Security-Policy': policy.join('; '), 'Cache-Control': 'no-cache', Vary: 'Accept' },
  }
}

interface Page {
  readonly title: string
  readonly icon: string
  readonly main: string
}

/** Title and main part are HTML. */
const printPage = ({ title, icon, main }: Page): string => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>${title}</title>
    <link rel="icon" href="${icon}" />
    <style>${STYLE}</style>
  </head>
  <body>
    <main>
${main}
    </main>
  </body>
</html>
`

const printMissing = (hasLanding: boolean): string =>
  printPage({
    title: '404 Not Found',
    icon: 'data:,',
    main: `<h1>404 ${notFound().message}</h1>
<p>This server has no page at this address.</p>
${hasLanding ? '<p><a href="/">Start page</a></p>' : ''}`,
  })

/** In production it names only what callers without credentials may know. Addresses are relative, for proxies that add a path. */
function printLanding(options: BrowserPagesOptions): string {
  const { settings, model, production } = options
  const isPublic = ({ key }: ContentType): boolean => options.publicCaller.grants.allows(key, 'find')
  const types = [...model.contentTypes.values()].filter(
    type => !type.builtIn && (!production || isPublic(type)),
  )
  const name = escapeHtml(settings.name)
  const mode = production ? 'production' : 'development'
  return printPage({
    title: name,
    icon: `.${ICON_PATH}`,
    main: `<h1>${name}</h1>
<p>A content API, served by Plinth${production ? '' : ` ${PRODUCT_VERSION}`} in ${mode} mode.</p>
${printTypes(types, options, isPublic)}
<h2>Addresses</h2>
<ul>
${addressesOf(options)
  .map(each => `<li>${each}</li>`)
  .join('\n')}
</ul>
${production ? '' : HELP}`,
  })
}

function printTypes(
  types: readonly ContentType[],
  { settings: { rest }, production, model }: BrowserPagesOptions,
  isPublic: (type: ContentType) => boolean,
): string {
  if (types.length === 0) return ''
  const hasReference = servesReference(rest, production, model)
  const rows = types.map(type => {
    const path = `/${apiIdOf(type)}`
    const name = escapeHtml(type.displayName)
    const reference = link(`${rest.prefix}/reference#get-${path}`, `reference of ${name}`)
    const access = !isPublic(type) ? 'needs a token' : hasReference ? `public: ${reference}` : 'public'
    return `<tr><th scope="row">${name}</th><td>${pathLink(rest.prefix + path)}</td><td>${access}</td></tr>`
  })
  return `<h2>Content-types</h2>
<table>
<thead><tr><th scope="col">Name</th><th scope="col">REST</th><th scope="col">Access</th></tr></thead>
<tbody>
${rows.join('\n')}
</tbody>
</table>`
}

function addressesOf({ settings, production, model }: BrowserPagesOptions): readonly string[] {
  const { rest, graphql, console } = settings
  const endpoints = graphql.enabled ? Object.keys(graphql.endpoints) : []
  const hasPlayground = !production || graphql.config.playgroundAlways
  const reference = `API reference: ${pathLink(`${rest.prefix}/reference`)}`
  const described = [
    ...(servesReference(rest, production, model) ? [reference] : []),
    `OpenAPI document: ${pathLink(`${rest.prefix}/openapi.json`)}`,
  ]
  return [
    ...(servesOpenapi(rest.openapi, production) ? described : [`REST: ${code(rest.prefix)}`]),
    ...(servesConsole(console, production)
      ? [`Console, where content is edited: ${pathLink(console.path)}`]
      : []),
    ...endpoints.map(path =>
      hasPlayground ? `GraphQL playground: ${pathLink(path)}` : `GraphQL: ${code(path)}`,
    ),
  ]
}

const code = (text: string): string => `<code>${escapeHtml(text)}</code>`

/** The text is HTML. */
const link = (path: string, text: string): string => `<a href=".${escapeHtml(path)}">${text}</a>`

const pathLink = (path: string): string => link(path, code(path))

const HELP = `<h2>Documentation</h2>
<p>The folder <code>docs</code> of the package: <code>node_modules/plinth/docs/README.md</code> in a project.
<code>npx plinth --help</code> lists the commands, and <code>npx plinth roles --help</code> those that explain permissions.</p>`
