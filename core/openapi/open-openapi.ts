import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Caller, Grants } from '../access/caller.ts'
import { memoize, once } from '../base/memo.ts'
import { escapeHtml } from '../base/text.ts'
import { notFound, RequestFault } from '../faults/fault.ts'
import type { HttpRequest, HttpResponse, Responder } from '../faults/http-exchange.ts'
import type { Identify } from '../identity/identify.ts'
import { apiIdOf, type Model } from '../model/model.ts'
import type { RestSettings, Settings } from '../project/settings/settings.ts'
import { answerJson, answerMethod } from '../rest/answer.ts'
import type { GeneratedResponder } from '../rest/endpoint.ts'
import { isStrapi4Format } from '../rest/strapi4.ts'
import type { DescribedProject } from './describe-api.ts'

interface OpenapiOptions extends Omit<DescribedProject, 'isKnown'> {
  readonly isKnown: DescribedProject['isKnown']
  readonly identify: Identify
  readonly production: boolean
}

/** Names of attributes are information, as in introspection of GraphQL: in production the project has to allow it. */
export const servesOpenapi = (asked: boolean | undefined, production: boolean): boolean =>
  asked ?? !production

/** The page of the reference has its path unless a content-type has it. */
export function servesReference(settings: RestSettings, production: boolean, model: Model): boolean {
  const isTaken = [...model.contentTypes.values()].some(
    type => !type.builtIn && apiIdOf(type) === 'reference',
  )
  return servesOpenapi(settings.openapi, production) && !isTaken
}

export const servesConsole = (
  { enabled }: Pick<Settings['console'], 'enabled'>,
  production: boolean,
): boolean => enabled === 'always' || (enabled === 'development' && !production)

/**
 * `GET <prefix>/openapi.json`: what the caller's role or token may do; `<prefix>/reference`: a page that shows it. The console
 * needs the document: where the console is served, signed-in users get theirs in any case. Nothing is made or loaded before the
 * first request; then one text per role and format is kept as long as the project is served.
 */
export function openOpenapi(options: OpenapiOptions): GeneratedResponder {
  const { rest, console } = options.settings
  const isPublic = servesOpenapi(rest.openapi, options.production)
  const hasPage = servesReference(rest, options.production, options.model)
  if (!isPublic && !servesConsole(console, options.production)) return () => null
  const path = `${rest.prefix}/openapi.json`.toLowerCase()
  const textsOf = memoize((_: Grants) => new Map<string, Promise<string>>())
  const textFor = (caller: Caller, format: 'flat' | 'v4'): Promise<string> => {
    const texts = textsOf(caller.grants)
    const key = `${caller.kind}${caller.key ? ' key' : ''} ${format}`
    const text = texts.get(key) ?? printFor(options, caller, format)
    texts.set(key, text)
    return text
  }
  const openPage = once(() => {
    const page = { path: `${rest.prefix}/reference`, document: `${rest.prefix}/openapi.json` }
    return openReferencePage({ ...page, title: options.settings.name })
  })
  return (request, acting) => {
    if (request.path.toLowerCase() !== path) return hasPage ? openPage()(request) : null
    if (request.method !== 'GET' && request.method !== 'HEAD')
      return answerMethod(request.method, 'HEAD, GET')
    return answerDescription({ request, acting, isPublic }, options, textFor)
  }
}

interface DescriptionCall {
  readonly request: HttpRequest
  readonly acting: Caller | undefined
  /** False: only signed-in users get it. */
  readonly isPublic: boolean
}

async function answerDescription(
  { request, acting, isPublic }: DescriptionCall,
  { identify, settings }: OpenapiOptions,
  textFor: (caller: Caller, format: 'flat' | 'v4') => Promise<string>,
) {
  request.route = 'openapi'
  const caller = acting ?? (await identify(request.headers.authorization))
  request.identified = caller
  if (!isPublic && !isSignedIn(caller)) throw new RequestFault(notFound())
  const format = isStrapi4Format(request, settings.rest) ? 'v4' : 'flat'
  return answerJson(await textFor(caller, format), { request })
}

const isSignedIn = ({ kind }: Caller): boolean => kind === 'user' || kind === 'external'

async function printFor(options: OpenapiOptions, caller: Caller, format: 'flat' | 'v4'): Promise<string> {
  const { describeApi } = await import('./describe-api.ts')
  return JSON.stringify(describeApi(options, caller, format))
}

interface ReferenceOptions {
  /** The path of the page. */
  readonly path: string
  /** The path of the OpenAPI document. */
  readonly document: string
  readonly title: string
}

/** A page for browsers that shows the OpenAPI document and sends requests. It loads nothing from other servers. */
function openReferencePage({ path, document, title }: ReferenceOptions): Responder {
  const page: HttpResponse = {
    status: 200,
    body: printPage({ path, document, title: escapeHtml(title) }),
    type: 'text/html; charset=utf-8',
    headers: { 'Content-Security-Policy': PAGE_POLICY, 'Cache-Control': 'no-cache' },
  }
  const lower = path.toLowerCase()
  return request => {
    const asked = request.path.toLowerCase()
    if (!isRead(request)) return null
    if (asked === lower || asked === `${lower}/`) return page
    return asked.startsWith(`${lower}/`) ? answerFile(asked.slice(lower.length + 1)) : null
  }
}

const isRead = ({ method }: HttpRequest): boolean => method === 'GET' || method === 'HEAD'

function answerFile(name: string): Promise<HttpResponse> | HttpResponse | null {
  if (name === 'start.js') return { status: 200, body: START_SCRIPT, type: SCRIPT, ...REVALIDATED }
  if (name !== REFERENCE_SCRIPT) return null
  return readScript().then(body => ({ status: 200, body, type: SCRIPT, ...REVALIDATED }))
}

const SCRIPT = 'text/javascript; charset=utf-8'

/** Browsers revalidate their copy by its ETag. */
const REVALIDATED = { headers: { 'Cache-Control': 'no-cache' }, hasEtag: true } as const

/** Nothing from other servers. RapiDoc needs inline styles. */
const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'self'",
].join('; ')

/** The defaults of RapiDoc have less contrast than small text needs to be readable. */
const READABLE_COLORS =
  '--light-fg: #5c6066; --green: #3b6400; --blue: #0b5e99; --orange: #8a4b00; --red: #b3261e; --yellow: #6b5300'

const printPage = ({ path, document, title }: ReferenceOptions): string => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>${title}: API reference</title>
    <link rel="icon" href="data:," />
    <style>
      body { margin: 0; font-family: system-ui, sans-serif }
      label { display: flex; gap: 8px; align-items: center; padding: 8px 16px; background: #1f2937; color: #fff }
      input { flex: 1; max-width: 480px; padding: 4px 8px; font: inherit }
      rapi-doc { height: calc(100dvh - 48px); ${READABLE_COLORS} }
    </style>
  </head>
  <body>
    <label>Token <input id="token" type="password" autocomplete="off" placeholder="a session or an API token: shows what it may do" /></label>
    <rapi-doc id="reference" data-document="${document}" load-fonts="false" render-style="focused" show-header="false"
      allow-authentication="false" allow-server-selection="false" fill-request-fields-with-example="false" schema-style="table" primary-color="#2456a6" regular-font="system-ui, sans-serif"
      mono-font="ui-monospace, monospace"></rapi-doc>
    <script type="module" src="${path}/${REFERENCE_SCRIPT}"></script>
    <script type="module" src="${path}/start.js"></script>
  </body>
</html>
`

/** Shows the document of the token's role, and sends the token with the requests of the page. It is not stored. */
const START_SCRIPT = `const reference = document.getElementById('reference')
const token = document.getElementById('token')
async function show() {
  const headers = token.value ? { Authorization: 'Bearer ' + token.value } : {}
  const answer = await fetch(reference.dataset.document, { headers })
  token.setCustomValidity(answer.ok ? '' : 'This token is refused')
  token.reportValidity()
  if (!answer.ok) return
  await customElements.whenDefined('rapi-doc')
  await reference.loadSpec(await answer.json())
  if (token.value) reference.setApiKey('bearer', token.value)
}
token.addEventListener('change', show)
show()

// RapiDoc has fields without a label, in nested shadow roots.
function labelFields(root) {
  for (const field of root.querySelectorAll('input, select, textarea'))
    if (!field.ariaLabel && !field.labels?.length) field.ariaLabel = field.dataset.pname || field.name || field.part.value || 'value'
  for (const element of root.querySelectorAll('*')) if (element.shadowRoot) watchFields(element.shadowRoot)
}
const watched = new WeakSet()
function watchFields(root) {
  if (watched.has(root)) return
  watched.add(root)
  new MutationObserver(() => labelFields(root)).observe(root, { childList: true, subtree: true })
  labelFields(root)
}
customElements.whenDefined('rapi-doc').then(() => watchFields(reference.shadowRoot))
`

export const REFERENCE_SCRIPT = 'rapidoc.js'

const require = createRequire(import.meta.url)

/** The package's own file, from which a build copies it. */
export function referenceSource(): { readonly script: string; readonly licence: string } {
  const folder = dirname(require.resolve('rapidoc/package.json'))
  return { script: join(folder, 'dist/rapidoc-min.js'), licence: join(folder, 'LICENSE.txt') }
}

/** A build has a copy next to this module, so that users need not install the package. */
async function readScript(): Promise<Buffer> {
  const copy = fileURLToPath(new URL(`./playground/${REFERENCE_SCRIPT}`, import.meta.url))
  try {
    return await readFile(copy)
  } catch (error) {
    if (!(error instanceof Error) || !('code' in error) || error.code !== 'ENOENT') throw error
    return readFile(referenceSource().script)
  }
}
