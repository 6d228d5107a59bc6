import { once } from 'node:events'
import { createServer } from 'node:http'
import test from 'ava'
import { handleErrors } from '../../core/http/listen.ts'
import type { Observation } from '../../core/observe/observation.ts'

test('connections that cannot be accepted are logged once a second, and do not end the server', async t => {
  const reported: Observation[] = []
  const server = createServer()
  handleErrors(server, () => ({ isEnabled: () => true, emit: observation => reported.push(observation) }))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  // Simulates the error event of Node for a failed `accept`, which tests cannot cause.
  for (let times = 0; times < 3; times++) server.emit('error', new Error('accept ENOBUFS'))
  t.deepEqual(reported, [{ kind: 'acceptFailed', message: 'accept ENOBUFS' }])
})
