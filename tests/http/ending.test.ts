import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import test from 'ava'
import { DatabaseFailure } from '../../core/database/database-fault.ts'
import type { HttpResponse } from '../../core/faults/http-exchange.ts'
import { openHealth } from '../../core/http/health.ts'
import { openHttpServer } from '../../core/http/server.ts'
import { SILENT } from '../../core/observe/observation.ts'
import { echo, open, SETTINGS, serve } from './serving.ts'

test('a port in use is reported in one sentence', async t => {
  const { port } = await serve(t, [echo])
  const server = await openHttpServer({
    settings: { ...SETTINGS, port },
    responders: [],
    fallback: null,
    observer: SILENT,
  })
  t.deepEqual(await server.listen(), {
    ok: false,
    reasons: [`Port ${port} of 127.0.0.1 is in use: set server.port (PORT) to a free one`],
  })
})

test('a server that shuts down answers running requests, and accepts no more', async t => {
  const begun = signal()
  const slow = async (): Promise<HttpResponse> => {
    begun.give()
    await pause(200)
    return { status: 200, body: '"done"' }
  }
  const { url, close, reported } = await serve(t, [slow])
  const pending = fetch(url)
  await begun.input
  const ended = close(5_000)
  const answer = await pending
  t.is(await answer.json(), 'done')
  t.is(answer.headers.get('connection'), 'close')
  await ended
  await t.throwsAsync(fetch(url))
  t.deepEqual(
    reported.filter(({ kind }) => kind.startsWith('stop')),
    [
      { kind: 'stopping', waiting: 1 },
      { kind: 'stopped', cut: 0 },
    ],
  )
})

test('a server that shuts down is not ready, for any state of its database', async t => {
  const { port, close } = await serve(t, [openHealth({ readiness: async () => 'ready' })])
  const late = await open(port)
  late.write('GET /_ready HTTP/1.1\r\n')
  await pause(50)
  const ended = close(5_000)
  late.end('Host: x\r\n\r\n')
  const answer = await text(late)
  t.regex(answer, /^HTTP\/1\.1 503 /)
  t.true(answer.endsWith('{"status":"stopping"}'))
  await ended
})

test('a client with an open connection is answered during shutdown, and asked to close it', async t => {
  const { port, close } = await serve(t, [echo], { drain: 1_000 })
  const client = await open(port)
  client.write('GET /first HTTP/1.1\r\nHost: x\r\n\r\n')
  await once(client, 'data')
  const ended = close(5_000)
  await pause(100)
  client.write('GET /second HTTP/1.1\r\nHost: x\r\n\r\n')
  const answer = await text(client)
  t.regex(answer, /^HTTP\/1\.1 200 /)
  t.regex(answer, /\r\nConnection: close\r\n/)
  t.true(answer.endsWith('{"path":"/second","method":"GET","search":""}'))
  await ended
  await t.throwsAsync(open(port), { code: 'ECONNREFUSED' })
})

test('idle connections do not prevent a server from shutting down', async t => {
  const { port, close } = await serve(t, [echo])
  const idle = await open(port)
  idle.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  await once(idle, 'data')
  await close(600_000)
  t.pass()
  idle.destroy()
})

test('an answer that its client reads slowly is sent to its end before the connection is closed', async t => {
  const body = 'x'.repeat(30_000_000)
  const { port, close, reported } = await serve(t, [() => ({ status: 200, body })], { drain: 50 })
  const slow = await open(port)
  slow.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  await once(slow, 'readable')
  const closed = close(600_000)
  await pause(500)
  t.is((await text(slow)).split('\r\n\r\n')[1]?.length, body.length)
  await closed
  t.deepEqual(reported.at(-1), { kind: 'stopped', cut: 0 })
})

test('connections that never sent a request do not prevent a server from shutting down', async t => {
  const { port, close, reported } = await serve(t, [echo], { drain: 50 })
  const answer = text(await open(port))
  await close(600_000)
  t.is(await answer, '', 'it is not answered 408 after the time for headers')
  t.deepEqual(reported.at(-1), { kind: 'stopped', cut: 0 })
})

test('the connection of a refused request is closed, also if its client keeps its end open', async t => {
  const { port, close, reported } = await serve(t, [echo], { settings: { requestTimeout: 200 } })
  const refused = [
    'GET / HTTP/1.1\r\nHost: x\r\n',
    'no request\r\n\r\n',
    'CONNECT x:443 HTTP/1.1\r\nHost: x\r\n\r\n',
  ]
  const answers = await Promise.all(
    refused.map(async bytes => {
      const client = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
      t.teardown(() => client.destroy())
      client.write(bytes)
      let answer = ''
      client.on('data', part => {
        answer += String(part)
      })
      await once(client, 'end')
      return answer
    }),
  )
  t.deepEqual(
    answers.map(answer => answer.slice(9, 12)),
    ['408', '400', '501'],
  )
  await close(600_000)
  t.deepEqual(reported.at(-1), { kind: 'stopped', cut: 0 })
})

test('requests over the shutdown timeout are cut off', async t => {
  const begun = signal()
  const { url, close, reported } = await serve(t, [
    () => {
      begun.give()
      return new Promise(() => {})
    },
  ])
  const pending = t.throwsAsync(fetch(url))
  await begun.input
  await close(100)
  await pending
  t.deepEqual(reported.at(-1), { kind: 'stopped', cut: 1 })
})

test('requests of disconnected clients finish before a server shuts down', async t => {
  const [begun, go] = [signal(), signal()]
  const done: string[] = []
  const { port, close } = await serve(t, [
    async () => {
      begun.give()
      await go.input
      done.push('written')
      return { status: 200, body: null }
    },
  ])
  await askAndLeave(port, begun.input)
  const ended = close(5_000).then(() => done.push('ended'))
  await pause(50)
  t.deepEqual(done, [])
  go.give()
  await ended
  t.deepEqual(done, ['written', 'ended'])
})

test('requests cut off by shutdown are not database errors, but other failures are logged', async t => {
  const [begun, away] = [signal(), signal()]
  const reasons = [new DatabaseFailure({ kind: 'unavailable', message: 'lost' }), new Error('a bug')]
  const { port, close, reported } = await serve(t, [
    async () => {
      const reason = reasons.shift()
      if (reasons.length === 0) begun.give()
      await away.input
      throw reason
    },
  ])
  await Promise.all([askAndLeave(port, begun.input), askAndLeave(port, begun.input)])
  await close(50)
  away.give()
  await pause(0)
  const kinds = reported.map(({ kind }) => kind)
  t.true(kinds.includes('failed'))
  t.false(kinds.includes('unavailable'))
})

/** Ends its connection once `begun`. */
async function askAndLeave(port: number, begun: Promise<void>): Promise<void> {
  const client = await open(port)
  client.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  await begun
  client.destroy()
}

/** A promise, and the function that fulfils it. */
function signal(): { readonly input: Promise<void>; give(): void } {
  let give = () => {}
  const input = new Promise<void>(resolve => {
    give = resolve
  })
  return { input, give: () => give() }
}
