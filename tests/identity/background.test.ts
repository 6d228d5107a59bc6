import test from 'ava'
import { openBackground } from '../../core/identity/identity.ts'

const open = (patience?: number) => {
  const reported: unknown[] = []
  return { reported, background: openBackground(reason => void reported.push(reason), patience) }
}

test('shutdown waits for started work, and for work that it starts', async t => {
  const { reported, background } = open(60_000)
  const done: string[] = []
  background.start(async () => {
    await new Promise(next => setImmediate(next))
    background.start(async () => {
      await new Promise(next => setImmediate(next))
      done.push('second')
    })
    done.push('first')
  })
  await background.settled()
  t.deepEqual(done, ['first', 'second'])
  t.deepEqual(reported, [])
})

test('a failure is reported and does not stop other work', async t => {
  const { reported, background } = open(60_000)
  const done: string[] = []
  background.start(() => Promise.reject(new Error('no')))
  background.start(async () => void done.push('yes'))
  await background.settled()
  t.deepEqual(reported.map(String), ['Error: no'])
  t.deepEqual(done, ['yes'])
})

test('shutdown does not wait forever for work that hangs', async t => {
  const { background } = open(50)
  background.start(() => new Promise(() => {}))
  await background.settled()
  t.pass()
})

test('without started work shutdown is immediate', async t => {
  await open(60_000).background.settled()
  t.pass()
})
