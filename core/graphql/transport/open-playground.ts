import type { HttpRequest, HttpResponse, Responder } from '../../faults/http-exchange.ts'
import type { GraphqlSettings } from '../../project/settings/settings.ts'
import { PLAYGROUND_FILES, readPlaygroundFile } from './playground-files.ts'
import { PAGE_POLICY, printPage, START_SCRIPT } from './playground-page.ts'

type PlaygroundTerms = Pick<GraphqlSettings['config'], 'endpoint' | 'playgroundAlways'>

/** GraphiQL for browsers that open the endpoint, from files of this server alone; none in production unless the project wants it (contract/graphql.md 11). */
export function openPlayground(
  { endpoint, playgroundAlways }: PlaygroundTerms,
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
    return { status: 200, body: START_SCRIPT, type: 'text/javascript; charset=utf-8', ...KEPT }
  const file = PLAYGROUND_FILES.get(name)
  if (!file) return null
  return readPlaygroundFile(name, file).then(body => ({ status: 200, body, type: file.type, ...KEPT }))
}

/** Browsers ask whether their copy is still the same. */
const KEPT = { headers: { 'Cache-Control': 'no-cache' }, tagged: true } as const
