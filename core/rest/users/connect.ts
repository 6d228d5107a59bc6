import { notFound } from '../../faults/fault.ts'
import { type HttpRequest, type HttpResponse, toFaultResponse } from '../../faults/http-exchange.ts'
import { type CountRequest, networkOf } from '../../identity/rate-limit.ts'
import type { AuthService } from '../../identity/sign-in/auth-service.ts'
import type { ProviderRedirect, SignInProviders } from '../../identity/sign-in/providers.ts'
import { answerMethod } from '../answer.ts'
import { withQuota } from '../api-rate-limit.ts'
import { type GeneratedResponder, wordsBelow } from '../endpoint.ts'
import { sessionBody } from './account-routes.ts'

export interface ConnectRouteOptions {
  /** Of REST: `/api`. */
  readonly prefix: string
  /** URL of the REST API as browsers see it: the cookie belongs to its path. */
  readonly address: string
  readonly providers: SignInProviders
  readonly auth: Pick<AuthService, 'answerSession'>
  readonly countAttempt: CountRequest
}

/**
 * Sign-in at providers, at Strapi's addresses (docs/identity.md): `/connect/:provider` leads to the provider, which leads
 * to `/connect/:provider/callback`, which leads to the front-end, which asks `/auth/:provider/callback`.
 */
export function openConnectRoutes(options: ConnectRouteOptions): GeneratedResponder {
  return request => {
    const words = wordsBelow(request.path, options.prefix) ?? []
    const step = stepOf(words)
    if (!step) return null
    if (request.method === 'HEAD') return { status: 204, body: null }
    if (request.method !== 'GET') return answerMethod(request.method, 'HEAD, GET')
    request.route = `auth.${step}`
    return perform(step, words[1] ?? '', { request, options })
  }
}

const STEPS = { connect: begin, receive, exchange } as const

type Step = keyof typeof STEPS

function stepOf([first = '', name = '', last, ...more]: readonly string[]): Step | null {
  if (name === '' || more.length > 0) return null
  const isCallback = last?.toLowerCase() === 'callback'
  if (first.toLowerCase() === 'auth') return isCallback ? 'exchange' : null
  if (last === undefined) return 'connect'
  return isCallback ? 'receive' : null
}

interface ConnectCall {
  readonly request: HttpRequest
  readonly options: ConnectRouteOptions
}

async function perform(step: Step, name: string, call: ConnectCall): Promise<HttpResponse> {
  const { request, options } = call
  const quota = await options.countAttempt([`address ${networkOf(request.peer)} provider ${step}`])
  return withQuota(quota, () => STEPS[step](name, call))
}

async function begin(name: string, { request, options }: ConnectCall): Promise<HttpResponse> {
  const callback = new URLSearchParams(request.search).get('callback')
  return redirect(name, await options.providers.connect(name, callback), options)
}

async function receive(name: string, { request, options }: ConnectCall): Promise<HttpResponse> {
  const cookie = readCookie(request.headers.cookie, cookieName(name))
  return redirect(name, await options.providers.receive(name, request.search, cookie), options)
}

async function exchange(name: string, { request, options }: ConnectCall): Promise<HttpResponse> {
  const code = new URLSearchParams(request.search).get('access_token')
  if (code === null) return toFaultResponse(notFound())
  const signedIn = await options.providers.exchange(name, code)
  return {
    status: 200,
    body: sessionBody(await options.auth.answerSession(signedIn)),
    headers: { 'Cache-Control': 'no-store' },
  }
}

/** Seconds: as long as the state in the cookie is valid. */
const COOKIE_LIFETIME = 600

function redirect(
  name: string,
  { location, cookie }: ProviderRedirect,
  { address }: ConnectRouteOptions,
): HttpResponse {
  const { pathname, protocol } = new URL(address)
  const parts = [
    `${cookieName(name)}=${cookie ?? ''}`,
    `Path=${pathname}/connect/${name}`,
    `Max-Age=${cookie === null ? 0 : COOKIE_LIFETIME}`,
    'HttpOnly',
    'SameSite=Lax',
    ...(protocol === 'https:' ? ['Secure'] : []),
  ]
  return {
    status: 302,
    body: null,
    headers: { Location: location, 'Cache-Control': 'no-store', 'Referrer-Policy': 'no-referrer' },
    cookies: [parts.join('; ')],
  }
}

const cookieName = (name: string): string => `plinth_connect_${name}`

function readCookie(header: string | undefined, name: string): string | null {
  for (const pair of (header ?? '').split(';')) {
    const at = pair.indexOf('=')
    if (at > 0 && pair.slice(0, at).trim() === name) return pair.slice(at + 1).trim()
  }
  return null
}
