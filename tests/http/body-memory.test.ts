import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import test from 'ava'
import { IncomingRequest } from '../../core/http/incoming-request.ts'
import { growthOf } from '../harness/heap.ts'

test('a body that arrives byte by byte takes about its own size in memory', async t => {
  const bytes = 200_000
  const incoming = new IncomingMessage(new Socket())
  const request = new IncomingRequest(incoming, {
    callerOf: () => '',
    bodyLimit: 2 * bytes,
    trustProxy: false,
  })
  const reading = request.body()
  // The stream begins to flow in a later turn.
  await new Promise(setImmediate)
  let sent = 0
  const growth = growthOf(bytes, number => {
    sent++
    incoming.push(Buffer.from([number % 256]))
    return null
  })
  t.true(growth < 20 * bytes, `${growth} bytes`)
  incoming.push(null)
  const body = await reading
  t.is(body.length, sent)
  t.true(
    body.subarray(-256).equals(Buffer.from(Array.from({ length: 256 }, (_, at) => (bytes - 255 + at) % 256))),
  )
})
