import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import test from 'ava'
import { watchConnections } from '../../core/http/listen.ts'
import type { Observation } from '../../core/observe/observation.ts'
import { open } from './serving.ts'

test('connections that cannot be accepted are logged once a second, and do not end the server', async t => {
  const reported: Observation[] = []
  const server = createServer()
  watchConnections(server, () => ({ isEnabled: () => true, emit: observation => reported.push(observation) }))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  // Simulates the error event of Node for a failed `accept`, which tests cannot cause.
  for (let times = 0; times < 3; times++) server.emit('error', new Error('accept ENOBUFS'))
  t.deepEqual(reported, [{ kind: 'acceptFailed', message: 'accept ENOBUFS' }])
})

test('connections beyond the limit are closed and logged, and others are accepted once some have ended', async t => {
  const reported: Observation[] = []
  const server = createServer((_request, response) => response.end('served'))
  watchConnections(
    server,
    () => ({ isEnabled: () => true, emit: observation => reported.push(observation) }),
    2,
  )
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo
  const accepted: Socket[] = []
  server.on('connection', (socket: Socket) => accepted.push(socket))
  const [first, second] = [await open(port), await open(port)]
  for (const late of [await open(port), await open(port)]) t.is(await text(late), '')
  const message = '2 connections are open, and the process may open no more files (ulimit -n)'
  t.deepEqual(reported, [{ kind: 'acceptFailed', message }])
  const [oldest] = accepted
  first.destroy()
  await once(oldest ?? server, 'close')
  const next = await open(port)
  next.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
  t.regex(await text(next), /served$/)
  second.destroy()
})
