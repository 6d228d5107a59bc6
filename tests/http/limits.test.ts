import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Duplex, Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import test from 'ava'
import { openByteBudget, RECEIVING } from '../../core/base/byte-budget.ts'
import type { Responder } from '../../core/faults/http-exchange.ts'
import { limitUnread } from '../../core/http/write-answer.ts'
import { readForm } from '../../core/media/read-form.ts'
import { temporaryFolder } from '../harness/folder.ts'
import { until } from '../harness/until.ts'
import { echo, open, send, serve } from './serving.ts'

const reader: Responder = async request => {
  const body = await request.body()
  return { status: 200, body: String(body.length) }
}

test('a body is read up to the configured limit', async t => {
  const { url } = await serve(t, [reader], { settings: { bodyLimit: 10 } })
  const post = (body: string | ReadableStream) =>
    fetch(url, { method: 'POST', body, duplex: 'half' } as RequestInit)
  t.is(await (await post('x'.repeat(10))).text(), '10')
  t.is((await post('x'.repeat(11))).status, 413)
  const chunked = new Blob(['x'.repeat(2_000)]).stream()
  const answer = await post(chunked)
  t.is(answer.status, 413)
  t.deepEqual(await answer.json(), {
    data: null,
    error: { status: 413, name: 'PayloadTooLargeError', message: 'request entity too large' },
  })
})

test('bytes that are not HTTP are answered 400, oversized headers 431', async t => {
  const { port } = await serve(t, [reader])
  t.regex(await send(port, 'hello\r\n\r\n'), /^HTTP\/1\.1 400 Bad Request\r\n[\s\S]*"BadRequestError"/)
  const long = `GET /${'x'.repeat(20_000)} HTTP/1.1\r\nHost: x\r\n\r\n`
  t.regex(await send(port, long), /^HTTP\/1\.1 431 [\s\S]*"RequestHeaderFieldsTooLargeError"/)
})

test('a request without a Host, or with two of Host, Authorization or Content-Type, is refused with the reason, also between other requests', async t => {
  const { port, reported } = await serve(t, [echo])
  const first = 'GET /first HTTP/1.1\r\nHost: x\r\n\r\n'
  for (const [headers, message] of [
    ['', 'A request needs the header Host'],
    ['Host: x\r\nhost: y\r\n', 'A request may have one header Host, got 2'],
    [
      'Host: x\r\nauthorization: Bearer a\r\nAUTHORIZATION: Bearer a\r\nAuthorization:\r\n',
      'A request may have one header Authorization, got 3',
    ],
    [
      'Host: x\r\nContent-Type: text/plain\r\ncontent-type: application/json\r\n',
      'A request may have one header Content-Type, got 2',
    ],
  ]) {
    const answers = await send(port, `${first}GET /second HTTP/1.1\r\n${headers}\r\n${first}`)
    t.regex(answers, /^HTTP\/1\.1 200 OK\r\n[\s\S]*"\/first"[\s\S]*HTTP\/1\.1 400 Bad Request\r\n/)
    const body = { data: null, error: { status: 400, name: 'BadRequestError', message } }
    t.true(answers.endsWith(`\r\n\r\n${JSON.stringify(body)}`), answers)
  }
  t.is(reported.filter(({ kind }) => kind === 'malformed').length, 4)
  t.regex(await send(port, 'GET / HTTP/1.0\r\n\r\n'), /^HTTP\/1\.1 200 OK\r\n/, 'HTTP/1.0 has none')
})

test('a body in a transfer coding other than chunked is refused: nothing decodes it', async t => {
  const { port, reported } = await serve(t, [reader])
  const post = (headers: string) =>
    send(port, `POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${headers}\r\n\r\n3\r\nabc\r\n0\r\n\r\n`)
  for (const [headers, got] of [
    ['Transfer-Encoding: gzip, chunked', 'gzip, chunked'],
    ['Transfer-Encoding: identity,chunked', 'identity,chunked'],
    ['Transfer-Encoding: deflate\r\ntransfer-encoding: chunked', 'deflate, chunked'],
  ] as const) {
    const message = `Transfer-Encoding may be chunked, got ${got}`
    const body = { data: null, error: { status: 501, name: 'NotImplementedError', message } }
    const answer = await post(headers)
    t.regex(answer, /^HTTP\/1\.1 501 Not Implemented\r\n/)
    t.true(answer.endsWith(`\r\n\r\n${JSON.stringify(body)}`), answer)
  }
  t.deepEqual(
    reported.filter(({ kind }) => kind === 'malformed').map(event => 'code' in event && event.code),
    Array.from({ length: 3 }, () => 'UNKNOWN_TRANSFER_CODING'),
  )
  t.regex(await post('Transfer-Encoding: Chunked'), /^HTTP\/1\.1 200 OK\r\n[\s\S]*\r\n\r\n3$/)
})

test('a body with a Content-Encoding is refused, also if it is plain', async t => {
  const streamed: Responder = async request => ({ status: 200, body: await text(request.stream()) })
  for (const responder of [reader, streamed]) {
    const { url } = await serve(t, [responder])
    const post = (coding: string) =>
      fetch(url, { method: 'POST', body: 'abc', headers: { 'content-encoding': coding } })
    for (const coding of ['', 'identity', ' Identity ']) t.is((await post(coding)).status, 200)
    for (const coding of ['gzip', 'identity, gzip', 'br']) {
      const message = `A body may have no Content-Encoding, got ${coding}`
      const error = { status: 400, name: 'BadRequestError', message }
      t.deepEqual(await (await post(coding)).json(), { data: null, error })
    }
  }
})

test('no header is dropped, however many come before it', async t => {
  const { port } = await serve(t, [({ headers }) => ({ status: 200, body: String(headers['if-match']) })])
  const answer = await send(
    port,
    `PUT / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${'a:\r\n'.repeat(3_500)}If-Match: "tag"\r\n\r\n`,
  )
  t.regex(answer, /^HTTP\/1\.1 200 OK\r\n[\s\S]*\r\n\r\n"tag"$/)
})

test('pipelined requests run one after another, and are answered in their order', async t => {
  let running = 0
  let most = 0
  const { port } = await serve(t, [
    async request => {
      most = Math.max(most, ++running)
      await pause(1)
      running--
      return { status: 200, body: `${request.path} ${await request.body()};` }
    },
  ])
  const requests = Array.from({ length: 60 }, (_, at) =>
    at % 2 === 0
      ? `GET /${at} HTTP/1.1\r\nHost: x\r\n\r\n`
      : `POST /${at} HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc`,
  )
  const last = 'GET /last HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'
  const answers = await send(port, `${requests.join('')}${last}`)
  const bodies = [...answers.matchAll(/\r\n\r\n([^;\r]+);/g)].map(([, body]) => body)
  t.deepEqual(bodies, [...requests.map((_, at) => `/${at} ${at % 2 === 0 ? '' : 'abc'}`), '/last '])
  t.is(most, 1)
})

test('requests before malformed bytes are answered first', async t => {
  const { port, reported } = await serve(t, [
    async request => {
      await pause(50)
      return { status: 201, body: `${request.path} ${await request.body()};` }
    },
  ])
  const post = (path: string, headers = ''): string =>
    `POST ${path} HTTP/1.1\r\nHost: x\r\n${headers}Content-Length: 3\r\n\r\nabc`
  const statuses = async (...parts: readonly string[]): Promise<readonly string[]> => {
    const socket = await open(port)
    const answer = text(socket)
    for (const part of parts) {
      socket.write(part)
      await pause(10)
    }
    return (
      (await answer).match(/HTTP\/1\.1 \d+|\/\w+ abc/g)?.map(found => found.replace('HTTP/1.1 ', '')) ?? []
    )
  }
  const refused = ['201', '/a abc', '400']
  t.deepEqual(await statuses(`${post('/a')}more\n`), refused, 'a Content-Length that is too small')
  t.deepEqual(await statuses(post('/a'), 'more\n', 'and more\n'), refused, 'in later packets')
  t.deepEqual(
    await statuses(`${post('/a')}${post('/b')}more\n`),
    ['201', '/a abc', '201', '/b abc', '400'],
    'pipelined',
  )
  const chunked = 'POST /b HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n'
  t.deepEqual(await statuses(`${post('/a')}${chunked}`), refused, 'a faulty body of the next request')
  t.deepEqual(await statuses(chunked), ['400'], 'a faulty body')
  t.deepEqual(
    await statuses(`${post('/a', 'Connection: close\r\n')}more\n`),
    ['201', '/a abc'],
    'the last request',
  )
  t.is(reported.filter(({ kind }) => kind === 'malformed').length, 6)
})

test('a connection with too many pipelined requests is closed, and none but the first runs', async t => {
  let received = 0
  let answer = () => {}
  const { port, url, reported } = await serve(t, [
    request => {
      if (request.path !== '/slow') return echo(request)
      received++
      return new Promise(resolve => {
        answer = () => resolve({ status: 200, body: '' })
      })
    },
  ])
  const socket = await open(port)
  const closed = new Promise(resolve => socket.once('close', resolve))
  socket.on('error', () => undefined).resume()
  socket.write('GET /slow HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(20_000))
  await closed
  t.is(received, 1)
  t.deepEqual(
    reported.filter(({ kind }) => kind === 'malformed'),
    [{ kind: 'malformed', code: 'TOO_MANY_PIPELINED' }],
  )
  t.is((await fetch(url)).status, 200)
  answer()
})

test('an unknown expectation is ignored', async t => {
  const { port } = await serve(t, [echo])
  const answer = await send(port, 'GET /a HTTP/1.1\r\nHost: x\r\nExpect: more\r\nConnection: close\r\n\r\n')
  t.regex(answer, /^HTTP\/1\.1 200 OK\r\n[\s\S]*"\/a"/)
})

test('CONNECT is answered like every unknown method', async t => {
  const { port } = await serve(t, [reader])
  for (const line of ['CONNECT x:443', 'REPORT /']) {
    const answer = await send(port, `${line} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`)
    t.regex(
      answer,
      /^HTTP\/1\.1 501 Not Implemented\r\n[\s\S]*text\/plain[\s\S]*\r\n\r\nNot Implemented$/,
      line,
    )
  }
})

test('a request that arrives too slowly is ended', async t => {
  const { port } = await serve(t, [reader], { settings: { requestTimeout: 200 } })
  t.regex(await send(port, 'GET / HTTP/1.1\r\nHost: x\r\n'), /^HTTP\/1\.1 408 [\s\S]*"RequestTimeoutError"/)
})

test('a caller who disconnects during a body ends only that request', async t => {
  let ended = false
  const { port, url } = await serve(t, [
    async request => {
      await request.body().catch(() => {
        ended = true
      })
      return { status: 200, body: null }
    },
  ])
  const socket = await open(port)
  socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nhalf')
  await pause(50)
  socket.destroy()
  for (let tries = 0; !ended && tries < 100; tries++) await pause(10)
  t.true(ended)
  t.is((await fetch(url, { method: 'POST', body: 'x' })).status, 200)
})

test('the client address is that of the connection, unless a trusted proxy names another', async t => {
  const peer: Responder = request => ({ status: 200, body: JSON.stringify(request.peer) })
  const headers = { 'X-Forwarded-For': '6.6.6.6, 10.0.0.7' }
  const plain = await serve(t, [peer])
  t.is(await (await fetch(plain.url, { headers })).json(), '127.0.0.1')
  const behind = await serve(t, [peer], { settings: { trustProxy: true } })
  t.is(await (await fetch(behind.url, { headers })).json(), '10.0.0.7')
  t.is(await (await fetch(behind.url)).json(), '127.0.0.1')
})

test('the request line may contain an absolute URL, as proxies send it', async t => {
  const { port } = await serve(t, [echo])
  const answer = await send(
    port,
    'GET http://site.test/a?b=c HTTP/1.1\r\nHost: site.test\r\nConnection: close\r\n\r\n',
  )
  t.regex(answer, /\{"path":"\/a","method":"GET","search":"b=c"\}$/)
})

test('a body that stops coming is answered 408 after the timeout, and its reader is ended', async t => {
  let ended: unknown
  const { port } = await serve(
    t,
    [
      async request => {
        await request.body().catch((error: unknown) => {
          ended = error
        })
        return { status: 200, body: null }
      },
    ],
    { settings: { requestTimeout: 300 } },
  )
  const answer = await send(port, 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nhalf')
  t.regex(answer, /^HTTP\/1\.1 408 Request Timeout\r\n[\s\S]*"RequestTimeoutError"/)
  await until('the reader is ended', () => ended !== undefined)
  t.regex(String(ended), /The request ended before its body did/)
})

test('the connection of a client that does not read its answer is closed, and that of a slow one is not', async t => {
  const connections: Duplex[] = []
  const large: Responder = () => ({ status: 200, body: 'x'.repeat(20_000_000) })
  const { port } = await serve(t, [large], {
    settings: { requestTimeout: 300 },
    middlewares: [
      (request, _response, next) => {
        connections.push(request.socket)
        next()
      },
    ],
  })
  const client = await open(port)
  t.teardown(() => client.destroy())
  client.pause().write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  await until('the connection is closed', () => connections[0]?.destroyed === true)
  const slow = await open(port)
  slow.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
  let size = 0
  for await (const part of slow) {
    size += part.length
    if (size < 2_000_000) await pause(50)
  }
  t.true(size > 20_000_000)
})

test.serial(
  'bodies that arrive slowly are bounded together: the oldest makes room, of JSON and of a form',
  async t => {
    const staging = temporaryFolder()
    t.teardown(() => staging.remove())
    const form: Responder = async request => {
      const rules = { accepts: () => false, fields: 1, fieldBytes: 1_000 }
      const { fields } = await readForm(request, { folder: staging.path, sizeLimit: 1, rules })
      return { status: 200, body: String(fields.size) }
    }
    const { port } = await serve(t, [request => (request.path === '/form' ? form(request) : reader(request))])
    const field = '--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n'
    for (const [path, begin] of [
      ['/', 'half'],
      ['/form', `${field}half`],
    ] as const) {
      const client = await open(port)
      t.teardown(() => client.destroy())
      const answer = once(client, 'data')
      const type = 'Content-Type: multipart/form-data; boundary=x'
      client.write(`POST ${path} HTTP/1.1\r\nHost: x\r\n${type}\r\nContent-Length: 500\r\n\r\n${begin}`)
      // It has been read when a later connection is answered.
      t.regex(await send(port, 'GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'), / 200 OK/)
      let isGivenUp = false
      const newer = RECEIVING.hold({}, 268_435_456, () => {
        isGivenUp = true
      })
      t.teardown(() => newer.release())
      t.regex(String(await answer), /^HTTP\/1\.1 503 [\s\S]*Too many bodies are being received/, path)
      t.false(isGivenUp)
      newer.release()
    }
  },
)

test('answers that wait for their clients are bounded together: the longest waiting one makes room', async t => {
  const unread = openByteBudget(50_000_000)
  const shared = Buffer.alloc(20_000_000, 'x')
  const server = createServer((request, response) => {
    const body = request.url === '/shared' ? shared : Buffer.alloc(20_000_000, 'y')
    response.end(body)
    limitUnread(response, body, unread)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  t.teardown(() => server.close().closeAllConnections())
  const ask = async (path: string) => {
    const client = await open(port)
    t.teardown(() => client.destroy())
    let received = 0
    let isClosed = false
    client.on('data', part => {
      received += part.length
      client.pause()
    })
    client
      .on('error', () => {})
      .on('close', () => {
        isClosed = true
      })
    client.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`)
    await until('the answer begins', () => received > 0)
    const readAll = async () => {
      client.resume()
      client.on('data', () => client.resume())
      await until('all is read', () => isClosed || received > 20_000_000)
      return received > 20_000_000
    }
    return { readAll, client }
  }
  const sharing = [await ask('/shared'), await ask('/shared'), await ask('/shared')]
  const [first, second] = [await ask('/own'), await ask('/own')]
  for (const { readAll } of sharing)
    t.false(await readAll(), 'the cached body is dropped with all of its readers')
  t.true(await first?.readAll())
  await ask('/own')
  t.true(await second?.readAll(), 'what has been read takes no room')
})

/** Writes without an end, as fast as the client reads; or a part of a stream that continues later. */
function writeStream(response: ServerResponse, isEndless: boolean): void {
  const parts = function* () {
    for (;;) yield Buffer.alloc(100_000)
  }
  if (isEndless) Readable.from(parts()).pipe(response)
  else response.write('first')
}

for (const by of ['other code', 'a responder'])
  test(`the connection of a client that does not read a stream of ${by} is closed, and that of one that waits for it is not`, async t => {
    const streams = new Map<string, ServerResponse>()
    const stream = (path: string, response: ServerResponse) => {
      streams.set(path, response)
      writeStream(response, path === '/endless')
    }
    const takeOver: Responder = async ({ path }) => ({
      status: 200,
      body: null,
      async takeOver(_incoming, response) {
        stream(path, response)
        await once(response, 'close')
      },
    })
    const { port } = await serve(t, by === 'a responder' ? [takeOver] : [], {
      settings: { requestTimeout: 300 },
      fallback: async () => (request, response) => stream(request.url ?? '', response),
    })
    const [waiting, unread] = [await open(port), await open(port)]
    t.teardown(() => unread.destroy())
    waiting.write('GET /events HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
    await until('a stream has begun', () => streams.has('/events'))
    unread.pause().write('GET /endless HTTP/1.1\r\nHost: x\r\n\r\n')
    await until('the unread stream is closed', () => streams.get('/endless')?.destroyed === true)
    streams.get('/events')?.end('second')
    t.regex(await text(waiting), /first[\s\S]*second/)
  })
