import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import test from 'ava'
import { IncomingRequest } from '../../core/http/incoming-request.ts'
import { readForm } from '../../core/media/read-form.ts'
import { growthOf, liveBytes } from '../harness/heap.ts'

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

for (const [name, fieldBytes] of [
  ['takes about its own size in memory', 400_000],
  ['that nothing reads takes no memory', null],
] as const)
  test(`a field of a form that arrives byte by byte ${name}`, async t => {
    const incoming = new IncomingMessage(new Socket())
    const source = {
      headers: { 'content-type': 'multipart/form-data; boundary=x' },
      stream: () => incoming,
    }
    const rules = { accepts: () => false, fields: 1, fieldBytes }
    const reading = readForm(source, { folder: '', sizeLimit: 0, rules })
    await new Promise(setImmediate)
    incoming.push(Buffer.from('--x\r\nContent-Disposition: form-data; name="data"\r\n\r\n'))
    // The stream of the part begins to flow in a later turn.
    await new Promise(setImmediate)
    const bytes = 200_000
    const before = liveBytes()
    for (let sent = 1; sent <= bytes; sent++) {
      incoming.push(Buffer.from('a'))
      // Parsed in later turns.
      if (sent % 1000 === 0) await new Promise(setImmediate)
    }
    const growth = liveBytes() - before
    t.true(growth < 20 * bytes, `${growth} bytes`)
    incoming.push(Buffer.from('\r\n--x--\r\n'))
    incoming.push(null)
    const { fields } = await reading
    t.deepEqual(fields.get('data'), fieldBytes === null ? undefined : ['a'.repeat(bytes)])
  })
