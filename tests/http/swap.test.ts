import { setTimeout as pause } from 'node:timers/promises'
import test from 'ava'
import type { HttpResponse, Responder } from '../../core/faults/http-exchange.ts'
import { SILENT } from '../../core/observe/observation.ts'
import { SETTINGS, serve } from './serving.ts'

const says =
  (word: string): Responder =>
  () => ({ status: 200, body: `"${word}"` })

const options = (responder: Responder) => ({
  settings: SETTINGS,
  responders: [responder],
  fallback: null,
  observer: SILENT,
})

const textOf = async (url: string) => (await fetch(url)).json()

test('after a swap new requests use the new generation, and running ones finish in the old one', async t => {
  let finish = () => {}
  const slow: Responder = () =>
    new Promise<HttpResponse>(resolve => {
      finish = () => resolve({ status: 200, body: '"old"' })
    })
  const { url, swap } = await serve(t, [slow])
  const pending = textOf(url)
  t.is(await Promise.race([pending, pause(100, 'pending')]), 'pending')
  const outgoing = await swap(options(says('new')))
  t.is(await textOf(url), 'new')
  t.is(await Promise.race([outgoing.drained(), pause(50, 'still there')]), 'still there')
  finish()
  t.is(await pending, 'old')
  await outgoing.drained()
})

test('held requests wait for the next generation', async t => {
  const { url, swap, hold } = await serve(t, [says('old')])
  const go = await hold()
  const pending = textOf(url)
  t.is(await Promise.race([pending, pause(100, 'held')]), 'held')
  await swap(options(says('new')))
  go()
  t.is(await pending, 'new')
  const again = await hold()
  const other = textOf(url)
  again()
  t.is(await other, 'new', 'without a swap they go to those who are there')
})

test('global middlewares are swapped too, without delaying requests', async t => {
  const { url, swap } = await serve(t, [says('old')], {
    middlewares: [(_request, response) => void response.end('"from Express"')],
  })
  t.is(await textOf(url), 'from Express')
  const outgoing = await swap(options(says('new')))
  await outgoing.drained()
  t.is(await textOf(url), 'new')
})
