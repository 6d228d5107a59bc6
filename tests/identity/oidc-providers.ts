import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { ExecutionContext } from 'ava'
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose'
import type Provider from 'oidc-provider'
import type { Configuration } from 'oidc-provider'
import type { TestApp } from '../../core/testing.ts'

// OpenID Connect providers on loopback, a real one and one that attacks, and the browser of a user who signs in there.

const SPOKEN = { warn: console.warn, info: console.info }

/** The provider of the tests advises on its own use in production. */
function quietly<Value>(work: () => Value): Value {
  const silent = () => undefined
  Object.assign(console, { warn: silent, info: silent })
  const speak = () => void Object.assign(console, SPOKEN)
  const value = work()
  if (value instanceof Promise) return value.finally(speak) as Value
  speak()
  return value
}

const { default: OpenProvider } = await quietly(() => import('oidc-provider'))
const LIFETIME = 600

export const API = 'http://localhost:1337'
export const FRONT = 'https://www.example.com/connect/company/redirect'

async function listen(
  t: ExecutionContext,
  handle: (request: IncomingMessage, response: ServerResponse) => unknown,
): Promise<string> {
  const server = createServer((request, response) => void handle(request, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

export const project = (issuer: string, provider: object = {}, auth: object = {}) => ({
  contentTypes: { note: { draftAndPublish: false, attributes: { text: 'string' } } },
  server: { url: API, rateLimit: { auth: false, account: false } },
  auth: {
    ...auth,
    providers: {
      company: {
        issuer,
        clientId: 'notes',
        clientSecret: 'a-secret-of-the-client',
        redirectUrls: [FRONT, `${FRONT}/app`],
        ...provider,
      },
      other: { issuer, clientId: 'notes', clientSecret: 'a-secret-of-the-client', redirectUrls: [FRONT] },
    },
  },
  roles: {
    public: { permissions: { auth: ['login', 'register'] } },
    authenticated: { permissions: { users: ['me'] } },
    editor: { permissions: { users: ['me'], note: '*' } },
  },
})

/** The browser's side of one sign-in. */
export async function begin(app: TestApp, path = '/api/connect/company') {
  const answer = await app.request('GET', path)
  const cookie = String(answer.headers['set-cookie']?.[0] ?? '')
  return {
    answer,
    location: String(answer.headers.location),
    cookie: cookie.split(';')[0] ?? '',
    attributes: cookie,
  }
}

const pathOf = (url: string): string => url.slice(new URL(url).origin.length)

export const receive = (app: TestApp, url: string, cookie: string) =>
  app.request('GET', pathOf(url), { headers: { cookie } })

export const codeOf = (answer: { readonly headers: { readonly location?: string | undefined } }): string =>
  new URL(String(answer.headers.location)).searchParams.get('access_token') ?? ''

export const exchange = (app: TestApp, code: string, provider = 'company') =>
  app.request('GET', `/api/auth/${provider}/callback?access_token=${encodeURIComponent(code)}`)

export interface Session {
  readonly jwt: string
  readonly user: Readonly<Record<string, unknown>>
}

/** A provider that signs in the account `current` without asking. */
export async function openRealProvider(t: ExecutionContext) {
  const state = {
    current: 'ann',
    accounts: new Map<string, object>([
      ['ann', { email: 'Ann@Example.com', email_verified: true, preferred_username: 'ann' }],
      ['bob', { email: 'bob@example.com', email_verified: false }],
    ]),
  }
  let provider: Provider | undefined
  const url = await listen(t, async (request, response) => {
    if (!provider) return
    if (!request.url?.startsWith('/interaction')) return provider.callback()(request, response)
    await provider.interactionFinished(request, response, { login: { accountId: state.current } })
  })
  const { privateKey } = await generateKeyPair('RS256', { extractable: true })
  const settings: Configuration = {
    clients: [
      {
        client_id: 'notes',
        client_secret: 'a-secret-of-the-client',
        redirect_uris: [`${API}/api/connect/company/callback`, `${API}/api/connect/other/callback`],
        response_types: ['code'],
        grant_types: ['authorization_code'],
        token_endpoint_auth_method: 'client_secret_post',
      },
    ],
    jwks: { keys: [{ ...(await exportJWK(privateKey)), kid: 'k1', alg: 'RS256', use: 'sig' }] },
    cookies: { keys: ['a-key-of-cookies'] },
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['preferred_username'] },
    ttl: {
      ...{ AccessToken: LIFETIME, AuthorizationCode: LIFETIME, IdToken: LIFETIME },
      ...{ Grant: LIFETIME, Interaction: LIFETIME, Session: LIFETIME },
    },
    renderError: (context, out) => {
      context.body = out
    },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_context, interaction) => `/interaction/${interaction.uid}` },
    findAccount: (_context, id) => ({
      accountId: id,
      claims: () => ({ sub: id, ...state.accounts.get(id) }),
    }),
    async loadExistingGrant(context): Promise<InstanceType<Provider['Grant']>> {
      const { client, session } = context.oidc
      const grant = new made.Grant({
        clientId: String(client?.clientId),
        accountId: String(session?.accountId),
      })
      grant.addOIDCScope('openid profile email')
      await grant.save()
      return grant
    },
  }
  const made: Provider = quietly(() => new OpenProvider(url, settings))
  provider = made
  /** Follows the provider's redirects to the address of the API. */
  const follow = async (from: string): Promise<string> => {
    const jar = new Map<string, string>()
    let at = from
    for (let step = 0; step < 10 && at.startsWith(url); step++) {
      const cookie = [...jar].map(pair => pair.join('=')).join('; ')
      const answer = await fetch(at, { redirect: 'manual', headers: { cookie } })
      for (const set of answer.headers.getSetCookie()) {
        const [pair = ''] = set.split(';')
        jar.set(pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1))
      }
      at = new URL(answer.headers.get('location') ?? 'about:blank', at).href
    }
    return at
  }
  return { url, state, follow }
}

export interface Answers {
  claims: JWTPayload
  header: Readonly<Record<string, unknown>>
  userinfo: unknown
  token: Readonly<Record<string, unknown>>
  status: number
  issuer: string | null
  /** More of the configuration. */
  configuration: object
  unsigned: boolean
  ownKey: boolean
}

/** A provider that answers what a test says. */
export async function openHostileProvider(t: ExecutionContext) {
  const { privateKey, publicKey } = await generateKeyPair('RS256', { extractable: true })
  const stranger = await generateKeyPair('RS256')
  const usual: Answers = {
    ...{ claims: {}, header: {}, userinfo: {}, token: {} },
    ...{ status: 200, issuer: null, configuration: {}, unsigned: false, ownKey: true },
  }
  const state: Answers = { ...usual }
  const jwk = { ...(await exportJWK(publicKey)), kid: 'k1', alg: 'RS256', use: 'sig' }
  let nonce = ''
  const sign = async () => {
    const now = Math.floor(Date.now() / 1000)
    const claims = {
      iss: url,
      aud: 'notes',
      sub: 'eve',
      iat: now,
      exp: now + 60,
      nonce,
      email: 'eve@example.com',
      email_verified: true,
      ...state.claims,
    }
    const payload = Object.fromEntries(Object.entries(claims).filter(([, value]) => value !== undefined))
    const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
    if (state.unsigned) return `${part({ alg: 'none' })}.${part(payload)}.`
    return new SignJWT(payload)
      .setProtectedHeader({ alg: 'RS256', kid: 'k1', ...state.header } as never)
      .sign(state.ownKey ? privateKey : stranger.privateKey)
  }
  const url = await listen(t, async (request, response) => {
    const json = (value: unknown, status = 200) => {
      response.writeHead(status, { 'content-type': 'application/json' })
      response.end(typeof value === 'string' ? value : JSON.stringify(value))
    }
    switch (request.url?.split('?')[0]) {
      case '/.well-known/openid-configuration':
        return json({
          issuer: state.issuer ?? url,
          authorization_endpoint: `${url}/authorize`,
          token_endpoint: `${url}/token`,
          userinfo_endpoint: `${url}/userinfo`,
          jwks_uri: `${url}/keys`,
          response_types_supported: ['code'],
          subject_types_supported: ['public'],
          id_token_signing_alg_values_supported: ['RS256'],
          ...state.configuration,
        })
      case '/keys':
        return json({ keys: [jwk] })
      case '/token':
        return json(
          { access_token: 'a', token_type: 'Bearer', id_token: await sign(), ...state.token },
          state.status,
        )
      default:
        return json(state.userinfo === null ? '<html>' : { sub: 'eve', ...Object(state.userinfo) })
    }
  })
  return {
    url,
    /** Signs in with these answers. */
    async signIn(app: TestApp, answers: Partial<Answers> = {}, search = '') {
      Object.assign(state, usual, answers)
      const { location, cookie } = await begin(app)
      const asked = new URL(location).searchParams
      nonce = asked.get('nonce') ?? ''
      return receive(
        app,
        `${API}/api/connect/company/callback?code=c&state=${asked.get('state')}${search}`,
        cookie,
      )
    },
    state,
  }
}
