import { createHash, randomBytes } from 'node:crypto'
import { domainToASCII, domainToUnicode } from 'node:url'
import type { Configuration, CustomFetch } from 'openid-client'
import type { Access } from '../../access/compile/compile-access.ts'
import { messageWithCauses, trimEndCharacter } from '../../base/text.ts'
import type { Transaction } from '../../database/database.ts'
import type { DesiredValue } from '../../documents/desired-state.ts'
import { newDocumentId } from '../../documents/rows/document-id.ts'
import { fault, notFound, RequestFault } from '../../faults/fault.ts'
import type { SignInProvider } from '../../project/settings/settings.ts'
import type { IdentityOptions, SignedIn } from '../identity.ts'
import { openRateLimit } from '../rate-limit.ts'
import { type Account, findAccount, lockIdentifiers, writeAccount } from '../users/accounts.ts'
import { createUser, findRole, NO_MESSAGES, roleValue, saveUser, scalarValue } from '../users/save-user.ts'
import { toUsername } from '../users/user-values.ts'
import { claimedRole, readBounded } from './issuer-strategy.ts'
import { openSealing, type Sealing } from './sealing.ts'
import { issueSession } from './sign-in.ts'

/** A redirect of the browser, with the value of the cookie that binds the sign-in to it; null: removes the cookie. */
export interface ProviderRedirect {
  readonly location: string
  readonly cookie: string | null
}

/**
 * Sign-in at OpenID Connect providers by the code flow with PKCE, state and nonce (docs/identity.md). The state is in an
 * encrypted cookie of the browser that began. The front-end gets a code of this API instead of the provider's token,
 * which may have been issued to another client.
 */
export interface SignInProviders {
  /** Begins a sign-in. `callback`: the page to return to; it must be one of `redirectUrls`. */
  connect(provider: string, callback: string | null): Promise<ProviderRedirect>
  /** The provider's answer: `search` of its request, and the cookie. */
  receive(provider: string, search: string, cookie: string | null): Promise<ProviderRedirect>
  /** Exchanges the code of the front-end for a session, once. */
  exchange(provider: string, code: string): Promise<SignedIn>
}

interface ProvidersOptions {
  readonly identity: IdentityOptions
  readonly access: Access
}

/** Seconds that a user has to sign in at the provider. */
const STATE_LIFETIME = 600
/** Seconds in which the front-end has to exchange the code. */
const CODE_LIFETIME = 60
/** Milliseconds for each request to a provider. */
const PROVIDER_TIMEOUT = 5_000

interface OpenProviders extends ProvidersOptions {
  readonly seal: Sealing
  readonly configurationOf: (name: string, provider: SignInProvider) => Promise<Configuration>
  /** False from the second call with a key on, in all processes, for longer than a state or a code is valid. */
  readonly claimOnce: (key: string) => Promise<boolean>
}

export function openProviders(options: ProvidersOptions): SignInProviders {
  const { identity } = options
  const declared = new Map(Object.entries(identity.settings.providers))
  const count = openRateLimit({ window: 2 * STATE_LIFETIME * 1000, max: 1 }, identity.database)
  const opened: OpenProviders = {
    ...options,
    seal: openSealing(identity.sealKey, identity.otherSealKeys),
    configurationOf: openConfigurations(),
    claimOnce: async key => (await count([key]))?.allowed !== false,
  }
  const find = (name: string): SignInProvider => {
    const provider = declared.get(name)
    if (!provider) throw new RequestFault(notFound())
    return provider
  }
  return {
    connect: (name, callback) => connect({ name, provider: find(name), callback }, opened),
    receive: (name, search, cookie) => receive({ name, provider: find(name), search, cookie }, opened),
    async exchange(name, code) {
      find(name)
      const { purpose, provider, documentId, id } = (await opened.seal.open(code)) ?? {}
      if (purpose !== 'code' || provider !== name || typeof documentId !== 'string')
        throw refused('The access_token is not a code of this sign-in, or has expired')
      // Not the text of the code: base64url spells the same bytes in several ways.
      if (!(await opened.claimOnce(`sign-in code ${id}`))) throw refused('The access_token was used before')
      const account = await findAccount(identity.database, { by: 'documentId', text: documentId }, identity)
      if (!account) throw refused('The user was deleted')
      if (account.blocked)
        throw new RequestFault(fault('application', 'Your account has been blocked by an administrator'))
      return issueSession(account, identity)
    },
  }
}

const refused = (message: string): RequestFault => new RequestFault(fault('validation', message))

/** Loads the configuration of a provider at its first sign-in, and again if that failed. */
function openConfigurations(): OpenProviders['configurationOf'] {
  const known = new Map<string, Promise<Configuration>>()
  return (name, provider) => {
    const found = known.get(name) ?? discover(provider)
    known.set(name, found)
    found.catch(() => known.delete(name))
    return found
  }
}

async function discover({ issuer, clientId, clientSecret }: SignInProvider): Promise<Configuration> {
  const { allowInsecureRequests, customFetch, discovery, enableNonRepudiationChecks, None } = await import(
    'openid-client'
  )
  // The signature of the ID token is verified, although it comes from the provider directly.
  const execute = [
    enableNonRepudiationChecks,
    ...(issuer.startsWith('http://') ? [allowInsecureRequests] : []),
  ]
  try {
    return await discovery(
      new URL(issuer),
      clientId,
      clientSecret === '' ? {} : { client_secret: clientSecret },
      clientSecret === '' ? None() : undefined,
      { timeout: PROVIDER_TIMEOUT / 1000, execute, [customFetch]: fetchAnswer },
    )
  } catch (error) {
    throw unreachable(issuer, error)
  }
}

/** The library reads bodies without a limit: one without an end would fill the memory until its timeout. */
const fetchAnswer: CustomFetch = async (url, options) => {
  const answer = await fetch(url, options as RequestInit)
  const { status, headers } = answer
  return new Response((await readBounded(url, answer)) || null, { status, headers })
}

const unreachable = (issuer: string, error: unknown): RequestFault =>
  new RequestFault({
    ...fault('unavailable', 'Service Unavailable'),
    reason: `The sign-in provider ${issuer} cannot be used: ${messageWithCauses(error)}`,
  })

const callbackOf = (name: string, { identity }: ProvidersOptions): string =>
  `${trimEndCharacter(identity.address, '/')}/connect/${name}/callback`

interface ConnectCall {
  readonly name: string
  readonly provider: SignInProvider
  readonly callback: string | null
}

async function connect(
  { name, provider, callback }: ConnectCall,
  options: OpenProviders,
): Promise<ProviderRedirect> {
  const { redirectUrls, scopes } = provider
  const returnTo = callback ?? redirectUrls[0] ?? ''
  if (!redirectUrls.includes(returnTo))
    throw refused(`callback must be one of auth.providers.${name}.redirectUrls`)
  const client = await import('openid-client')
  const configuration = await options.configurationOf(name, provider)
  const [verifier, state, nonce] = [
    client.randomPKCECodeVerifier(),
    client.randomState(),
    client.randomNonce(),
  ]
  const location = client.buildAuthorizationUrl(configuration, {
    redirect_uri: callbackOf(name, options),
    scope: [...new Set(['openid', ...scopes])].join(' '),
    code_challenge: await client.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    state,
    nonce,
  })
  const claims = { purpose: 'state', provider: name, verifier, state, nonce, returnTo }
  return { location: location.href, cookie: await options.seal.seal(claims, STATE_LIFETIME) }
}

interface ReceiveCall {
  readonly name: string
  readonly provider: SignInProvider
  readonly search: string
  readonly cookie: string | null
}

async function receive(
  { name, provider, search, cookie }: ReceiveCall,
  options: OpenProviders,
): Promise<ProviderRedirect> {
  const begun = cookie === null ? null : await options.seal.open(cookie)
  const { purpose, provider: beganAt, state, nonce, verifier, returnTo } = begun ?? {}
  const input = new URLSearchParams(search)
  if (purpose !== 'state' || beganAt !== name || input.get('state') !== state)
    throw refused('This browser has not begun the sign-in, or it took longer than ten minutes: begin again')
  if (!(await options.claimOnce(`sign-in state ${state}`)))
    throw refused('The answer of the provider was used before: begin again')
  const back = (parameters: Readonly<Record<string, string>>): ProviderRedirect => {
    const location = new URL(String(returnTo))
    for (const [key, value] of Object.entries(parameters)) location.searchParams.set(key, value)
    return { location: location.href, cookie: null }
  }
  // The user has cancelled, for example. Other texts of the provider are not passed on.
  const error = input.get('error')
  if (error !== null) return back({ error: /^[a-z_]{1,40}$/.test(error) ? error : 'server_error' })
  const claims = await redeem(
    { name, provider, search },
    { state: String(state), nonce: String(nonce), verifier: String(verifier) },
    options,
  )
  const { documentId } = await signInWith(claims, { name, provider }, options)
  const code = await options.seal.seal({ purpose: 'code', provider: name, documentId }, CODE_LIFETIME)
  return back({ access_token: code })
}

type Claims = Readonly<Record<string, unknown>> & { readonly sub: string }

/** Exchanges the provider's code for the claims of the user, by the ID token and the user info. */
async function redeem(
  { name, provider, search }: Omit<ReceiveCall, 'cookie'>,
  { state, nonce, verifier }: { readonly state: string; readonly nonce: string; readonly verifier: string },
  options: OpenProviders,
): Promise<Claims> {
  const client = await import('openid-client')
  const configuration = await options.configurationOf(name, provider)
  try {
    const tokens = await client.authorizationCodeGrant(
      configuration,
      new URL(`${callbackOf(name, options)}?${search}`),
      {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: verifier,
        idTokenExpected: true,
      },
    )
    const claims = tokens.claims()
    if (!claims) throw refused('The provider has sent no ID token')
    if (!configuration.serverMetadata().userinfo_endpoint) return { ...claims }
    return mergeClaims(claims, await client.fetchUserInfo(configuration, tokens.access_token, claims.sub))
  } catch (error) {
    if (error instanceof RequestFault) throw error
    throw new RequestFault({
      ...fault('validation', 'The sign-in at the provider failed: begin again'),
      reason: `The answer of ${provider.issuer} is refused: ${messageWithCauses(error)}`,
    })
  }
}

/** What the user info says of its own address does not verify another one of the ID token, and the reverse. */
function mergeClaims(token: Claims, info: Claims): Claims {
  const source = token.email === undefined ? info : token
  const verified =
    token.email === info.email ? (token.email_verified ?? info.email_verified) : source.email_verified
  return { ...info, ...token, email_verified: verified }
}

interface Provider {
  readonly name: string
  readonly provider: SignInProvider
}

const TAKEN = 'Email is already taken.'

/**
 * The user of an account at a provider, created at the first sign-in. Users are found by issuer and subject alone: an
 * address never links an account to an existing user.
 */
async function signInWith(
  claims: Claims,
  { name, provider }: Provider,
  options: OpenProviders,
): Promise<Pick<Account, 'documentId'>> {
  const { identity, access } = options
  const { role } = provider
  const roleKey = role.claim
    ? claimedRole(claims, role, access.roles)
    : (role.default ?? identity.settings.register.role)
  if (roleKey === null || !access.roles.has(roleKey))
    throw new RequestFault(fault('forbidden', 'The provider gives this account no role'))
  const key = identityKey(provider.issuer, claims.sub)
  return writeAccount(async (transaction, recordEvent) => {
    await transaction.lock(`sign-in ${key}`)
    const known = await findIdentity(key, transaction, options)
    const roleId = await findRole(roleKey, transaction, identity)
    if (known) {
      if (role.claim) await setRole(known, roleId, transaction, options)
      return known
    }
    const { documentId, values } = await newUser(claims, { name, provider }, { transaction, options })
    const user = {
      documentId,
      values: new Map<string, DesiredValue>([...values, ['role', roleValue(roleId)]]),
    }
    await createUser(user, { email: TAKEN, username: TAKEN }, transaction, identity)
    await transaction.run({ name: 'link an account', text: LINK, values: [key, documentId] })
    const made = await findAccount(transaction, { by: 'documentId', text: documentId }, identity)
    if (!made) throw new TypeError('a user that was just made is not there')
    recordEvent(made, 'create', user.values.keys())
    return made
  }, identity)
}

/** Hashed for a fixed length, and so that no subjects are stored. */
const identityKey = (issuer: string, subject: string): string =>
  createHash('sha256')
    .update(JSON.stringify([issuer, subject]))
    .digest('hex')

const LINK = `INSERT INTO plinth_identities (key, document_id, linked_at) VALUES ($1::text, $2::text, now())
ON CONFLICT (key) DO UPDATE SET document_id = excluded.document_id, linked_at = excluded.linked_at`

/** null: unknown, or the user was deleted. */
async function findIdentity(
  key: string,
  transaction: Transaction,
  { identity }: OpenProviders,
): Promise<Account | null> {
  const text = 'SELECT document_id FROM plinth_identities WHERE key = $1::text'
  const { rows } = await transaction.run({ name: 'find a linked account', text, values: [key] })
  const found = rows[0]?.[0]
  if (typeof found !== 'string') return null
  return findAccount(transaction, { by: 'documentId', text: found }, identity, true)
}

const setRole = (
  { documentId }: Account,
  role: string,
  transaction: Transaction,
  { identity }: OpenProviders,
): Promise<void> =>
  saveUser({ documentId, values: new Map([['role', roleValue(role)]]) }, NO_MESSAGES, transaction, identity)

interface NewUserOptions {
  readonly transaction: Transaction
  readonly options: OpenProviders
}

async function newUser(
  claims: Claims,
  { name, provider }: Provider,
  { transaction, options }: NewUserOptions,
) {
  const { identity } = options
  if (!identity.settings.register.enabled)
    throw new RequestFault(fault('application', 'Register action is currently disabled'))
  const email = emailOf(claims, provider)
  const wanted = usernameOf(claims, provider, email)
  await lockIdentifiers(transaction, [email, wanted])
  if (await findAccount(transaction, { by: 'identifier', text: email }, identity))
    throw new RequestFault(fault('application', TAKEN))
  const username = await freeUsername(wanted, { transaction, options })
  const values = Object.entries({ username, email, provider: name, confirmed: true, blocked: false })
  return {
    documentId: newDocumentId(),
    values: new Map(values.map(([key, value]) => [key, scalarValue(value)] as const)),
  }
}

/** No white space, control or invisible characters, nor those that join several addresses or quote one. */
const ADDRESS =
  /^[^\s@()<>[\]:;,\\"\p{Cc}\p{Surrogate}\p{Default_Ignorable_Code_Point}]{1,64}@[^\s@()<>[\]:;,\\"\p{Cc}\p{Surrogate}\p{Default_Ignorable_Code_Point}]{1,190}$/u

/**
 * False for an address that mail programs, or a comparison without case, take for another one: `ｋｉｍ@example.com`, the Kelvin
 * sign for a k. The provider has verified the former, and its owner would get the account of the latter.
 */
function isCanonical(address: string): boolean {
  const host = address.slice(address.indexOf('@') + 1).toLowerCase()
  const ascii = domainToASCII(host)
  return address.normalize('NFKC') === address && (ascii === host || domainToUnicode(ascii) === host)
}

/** An address that the provider has not verified may be another person's. */
function emailOf({ email, email_verified: verified }: Claims, { trustEmail }: SignInProvider): string {
  if (typeof email !== 'string' || !ADDRESS.test(email) || !isCanonical(email))
    throw new RequestFault(fault('application', 'Email was not available.'))
  if (!trustEmail && verified !== true && verified !== 'true')
    throw new RequestFault(fault('application', 'The provider has not verified the email.'))
  return email.toLowerCase()
}

/** Characters of a username from a provider. */
const LONGEST = 60

function usernameOf(claims: Claims, { username: claim }: SignInProvider, email: string): string {
  const input = Object.hasOwn(claims, claim) ? claims[claim] : undefined
  const [local = ''] = email.split('@')
  const wanted = typeof input === 'string' && !input.includes('\0') ? toUsername(input) : ''
  // Normalised again: a name that is cut may end with a space.
  const name = toUsername([...(wanted.length >= SHORTEST ? wanted : local)].slice(0, LONGEST).join(''))
  return name.length >= SHORTEST ? name : `user-${name}`
}

/** Of the user type. */
const SHORTEST = 3

/** The username, or with a random end if another user has it. */
async function freeUsername(wanted: string, { transaction, options }: NewUserOptions): Promise<string> {
  const taken = await findAccount(transaction, { by: 'identifier', text: wanted }, options.identity)
  return taken ? `${wanted}-${randomBytes(4).toString('hex')}` : wanted
}
