import { readFile } from 'node:fs/promises'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { once } from '../base/memo.ts'
import { escapeHtml } from '../base/text.ts'
import { notFound } from '../faults/fault.ts'
import {
  type HttpRequest,
  type HttpResponse,
  type Responder,
  toFaultResponse,
} from '../faults/http-exchange.ts'
import { servesConsole } from '../openapi/open-openapi.ts'
import type { Settings } from '../project/settings/settings.ts'

/**
 * The pages below `console.path`: a client that edits content over the REST API as its user. It has no privileges and no data:
 * every visitor may load it.
 */
export function openConsolePages(settings: Settings, production: boolean): Responder {
  const { path: root } = settings.console
  if (!servesConsole(settings.console, production)) return () => null
  const openShell = once(() => readShell(settings))
  return request => {
    const { path, method } = request
    if (method !== 'GET' && method !== 'HEAD') return null
    if (path !== root && !path.startsWith(`${root}/`)) return null
    const [, folder, name = ''] = path.slice(root.length).split('/')
    return folder === 'assets' ? answerAsset(request, name) : openShell()
  }
}

/** A build has it next to dist/run/; a checkout runs core/ itself. */
const FOLDERS = ['../console/', '../../dist/console/'].map(folder => new URL(folder, import.meta.url))

async function readBuilt(name: string): Promise<Buffer | null> {
  for (const folder of FOLDERS) {
    try {
      return await readFile(fileURLToPath(new URL(name, folder)))
    } catch (error) {
      if (!(error instanceof Error) || !('code' in error) || error.code !== 'ENOENT') throw error
    }
  }
  return null
}

async function readShell(settings: Settings): Promise<HttpResponse> {
  const built = await readBuilt('index.html')
  const { path } = settings.console
  const providers = Object.keys(settings.auth.providers)
  const place = JSON.stringify({ path, api: settings.rest.prefix, providers })
  const headers = { 'Content-Security-Policy': policyOf(settings), 'Cache-Control': 'no-cache' }
  const html = built?.toString('utf8').replaceAll('{{path}}', path)
  return {
    status: html === undefined ? 503 : 200,
    body:
      html?.replace('{{settings}}', escapeHtml(place)) ?? 'The console is not built: run `npm run build`.',
    type: html === undefined ? 'text/plain; charset=utf-8' : 'text/html; charset=utf-8',
    headers,
    hasEtag: true,
  }
}

const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
}

/** The names have hashes of their content, so browsers keep them. */
async function answerAsset(request: HttpRequest, name: string): Promise<HttpResponse> {
  request.route = 'console'
  const type = TYPES[extname(name)]
  const body =
    type !== undefined && /^[\w-]+\.(js|css)$/.test(name) ? await readBuilt(`assets/${name}`) : null
  if (body === null || type === undefined) return toFaultResponse(notFound())
  return { status: 200, body, type, headers: { 'Cache-Control': 'public, max-age=31536000, immutable' } }
}

/** Nothing from other servers, except pictures of the storage. No inline scripts and styles. */
function policyOf({ upload }: Settings): string {
  const { publicUrl, endpoint } = upload.providerOptions ?? {}
  const storage = [publicUrl, endpoint].flatMap(address =>
    typeof address === 'string' && URL.canParse(address) ? [new URL(address).origin] : [],
  )
  const files = ["'self'", 'data:', 'blob:', ...storage].join(' ')
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    `img-src ${files}`,
    `media-src ${files}`,
    "connect-src 'self'",
    "worker-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; ')
}
