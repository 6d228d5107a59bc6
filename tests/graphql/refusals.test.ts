import { ApolloClient, gql, HttpLink, InMemoryCache } from '@apollo/client'
import { CombinedGraphQLErrors, ServerError } from '@apollo/client/errors'
import { Client, fetchExchange } from '@urql/core'
import test, { type ExecutionContext } from 'ava'
import { ClientError, GraphQLClient } from 'graphql-request'
import { fault, RequestFault } from '../../core/faults/fault.ts'
import { openStartGate } from '../../core/http/service-unavailable.ts'
import { openTestApp, teardownOfFile } from '../harness/test-app.ts'
import { echo, send, serve } from '../http/serving.ts'

// Refusals around the operation: the server answers before GraphQL does, and clients of GraphQL read `errors` only.

const graphql = { '/graphql': 'nested', '/api/flat': 'flat' } as const
// Apollo answers `__typename` by itself.
const QUERY = '{ shown }'

interface Seen {
  readonly status: number | undefined
  readonly message: string | undefined
  readonly code: unknown
}

/** What each client reports of a refused operation. */
const CLIENTS: Readonly<Record<string, (url: string, query: string) => Promise<Seen>>> = {
  'graphql-request': async (url, query) => {
    const error: unknown = await new GraphQLClient(url).request(query).catch((reason: unknown) => reason)
    if (!(error instanceof ClientError)) throw error
    return { status: error.response.status, ...firstOf(error.response.errors) }
  },
  urql: async (url, query) => {
    const client = new Client({ url, exchanges: [fetchExchange], preferGetMethod: false })
    const { error } = await client.query(query, {}).toPromise()
    return { status: error?.response?.status, ...firstOf(error?.graphQLErrors) }
  },
  '@apollo/client': async (url, query) => {
    const client = new ApolloClient({ link: new HttpLink({ uri: url }), cache: new InMemoryCache() })
    const error: unknown = await client.query({ query: gql(query) }).catch((reason: unknown) => reason)
    if (CombinedGraphQLErrors.is(error)) return { status: undefined, ...firstOf(error.errors) }
    if (!ServerError.is(error)) throw error
    const body: { readonly errors?: readonly Formatted[] } = JSON.parse(error.bodyText)
    return { status: error.statusCode, ...firstOf(body.errors) }
  },
}

interface Formatted {
  readonly message: string
  readonly extensions?: { readonly code?: unknown } | undefined
}

const firstOf = (errors: readonly Formatted[] = []) => ({
  message: errors[0]?.message,
  code: errors[0]?.extensions?.code,
})

async function refusedBy(t: ExecutionContext, url: string, expected: Seen, query = QUERY) {
  for (const [name, ask] of Object.entries(CLIENTS)) {
    const { status, ...seen } = await ask(url, query)
    t.deepEqual(seen, { message: expected.message, code: expected.code }, `${name} ${url}`)
    // With GraphQL's own media type, Apollo reports the errors without the status.
    t.true(status === undefined || status === expected.status, `${name} ${url} ${status}`)
  }
}

const { teardown } = teardownOfFile(test.after.always)

test.serial('clients of both formats see why a starting server refuses, and REST keeps its form', async t => {
  const { url } = await serve({ teardown }, openStartGate().responders, { graphql })
  const message = 'The server is starting: try again in a moment'
  for (const path of Object.keys(graphql))
    await refusedBy(t, url + path, { status: 503, message, code: 'INTERNAL_SERVER_ERROR' })
  const rest = await fetch(`${url}/api/books`)
  t.like(await rest.json(), { data: null, error: { status: 503, message } })
  t.is(rest.headers.get('retry-after'), '1')

  const accept = 'application/graphql-response+json, application/json;q=0.9'
  const types = Object.keys(graphql).map(async path => {
    const answer = await fetch(url + path, { method: 'POST', headers: { accept }, body: '{}' })
    t.is(answer.headers.get('retry-after'), '1')
    t.deepEqual(await answer.json(), {
      errors: [
        {
          message,
          extensions: {
            error: { name: 'ServiceUnavailableError', message, details: { outcome: 'not-written' } },
            code: 'INTERNAL_SERVER_ERROR',
          },
        },
      ],
    })
    return answer.headers.get('content-type')
  })
  t.deepEqual(await Promise.all(types), [
    'application/json',
    'application/graphql-response+json; charset=utf-8',
  ])
})

test.serial('timeouts, failures and unavailable databases have the form of GraphQL at its paths', async t => {
  const causes: Readonly<Record<string, () => Promise<never>>> = {
    hang: () => new Promise(() => undefined),
    fail: async () => {
      throw new TypeError('secret')
    },
    unavailable: async () => {
      throw new RequestFault(fault('unavailable', 'The database does not answer'))
    },
  }
  let cause = 'hang'
  const { url } = await serve({ teardown }, [() => causes[cause]?.() ?? null], {
    graphql,
    settings: { requestTimeout: 150 },
  })
  const code = 'INTERNAL_SERVER_ERROR'
  for (const path of Object.keys(graphql)) {
    cause = 'hang'
    await refusedBy(t, url + path, { status: 503, message: 'Service Unavailable', code })
    cause = 'fail'
    await refusedBy(t, url + path, { status: 500, message: 'Internal Server Error', code })
    cause = 'unavailable'
    await refusedBy(t, url + path, { status: 503, message: 'The database does not answer', code })
  }
  const rest = await fetch(`${url}/graphqlite`)
  t.like(await rest.json(), { data: null, error: { status: 503 } })
})

test.serial('a request that the parser refuses has the form of the path in its request line', async t => {
  const { port } = await serve({ teardown }, [echo], { graphql, settings: { requestTimeout: 200 } })
  const body = async (request: string): Promise<unknown> =>
    JSON.parse((await send(port, request)).split('\r\n\r\n').at(-1) ?? '')
  const error = (name: string, message: string) => ({
    errors: [
      { message, extensions: { error: { name, message, details: {} }, code: 'INTERNAL_SERVER_ERROR' } },
    ],
  })
  const long = `X-Long: ${'x'.repeat(20_000)}\r\n\r\n`
  t.deepEqual(
    await body(`POST /graphql?a=1 HTTP/1.1\r\nHost: x\r\n${long}`),
    error('RequestHeaderFieldsTooLargeError', 'Request Header Fields Too Large'),
  )
  t.like(await body(`GET /api/books HTTP/1.1\r\nHost: x\r\n${long}`), {
    data: null,
    error: { status: 431 },
  })
  const reader = await serve(
    { teardown },
    [async request => ({ status: 200, body: String((await request.body()).length) })],
    { graphql, settings: { requestTimeout: 300 } },
  )
  const slow = await send(reader.port, 'POST /api/flat HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nhalf')
  t.regex(slow, /^HTTP\/1\.1 (408|503) /)
  t.regex(slow, /\{"errors":\[\{"message":"/)
})

test.serial('global middlewares: a body that they refuse and one that hangs', async t => {
  const { url } = await serve({ teardown }, [echo], {
    graphql,
    settings: { requestTimeout: 150 },
    middlewares: [
      (request, _response, next) => {
        if (request.headers['x-large'] === undefined) return
        next(Object.assign(new Error('request entity too large'), { expose: true, status: 413 }))
      },
    ],
  })
  const large = await fetch(`${url}/graphql`, { method: 'POST', headers: { 'x-large': '1' }, body: '{}' })
  t.is(large.status, 413)
  t.like(await large.json(), { errors: { 0: { message: 'request entity too large' } } })
  const late = await fetch(`${url}/api/flat`, { method: 'POST', body: '{}' })
  t.is(late.status, 503)
  t.like(await late.json(), { errors: { 0: { message: 'Service Unavailable' } } })
})

test.serial('a body that is not UTF-8 is refused', async t => {
  const project = {
    contentTypes: { book: { attributes: { title: 'string' } } },
    graphql: { endpoints: graphql },
  }
  const app = await openTestApp({ teardown }, { project })
  for (const path of Object.keys(graphql))
    for (const [type, text] of [
      ['application/json', '{"query":"{ __typename } # é"}'],
      ['application/x-www-form-urlencoded', 'query={ __typename } %23 é'],
    ]) {
      const headers = { 'content-type': String(type) }
      const send = (encoding: BufferEncoding) =>
        app.request('POST', path, { body: Buffer.from(String(text), encoding), headers })
      const { status, body } = await send('latin1')
      t.is(status, 400, path)
      t.regex(JSON.stringify(body), /invalid UTF-8/)
      t.is((await send('utf8')).status, 200, path)
    }
})

test.serial('the rate limit and the limit of bodies of a whole app', async t => {
  const app = await openTestApp(
    { teardown },
    {
      project: {
        contentTypes: { book: { attributes: { title: 'string' } } },
        server: { bodyLimit: 500, rateLimit: { api: { window: 60_000, max: 7 } } },
        graphql: { endpoints: graphql },
      },
      listen: true,
    },
  )
  for (const path of Object.keys(graphql)) {
    const message = 'request entity too large'
    const code = 'STRAPI_PAYLOAD_TOO_LARGE_ERROR'
    const long = `{ ${'x'.repeat(600)}: shown }`
    await refusedBy(t, app.url + path, { status: 413, message, code }, long)
  }
  t.is((await fetch(`${app.url}/graphql?query={__typename}`)).status, 200)
  for (const path of Object.keys(graphql)) {
    const message = 'Too many requests, please try again later.'
    await refusedBy(t, app.url + path, { status: 429, message, code: 'STRAPI_RATE_LIMIT_ERROR' })
    const answer = await fetch(app.url + path, { method: 'POST', body: '{}' })
    t.truthy(answer.headers.get('retry-after'))
    t.like(await answer.json(), { errors: { 0: { extensions: { error: { details: {} } } } } })
  }
  t.like(await (await fetch(`${app.url}/api/books`)).json(), { data: null, error: { status: 429 } })
})
