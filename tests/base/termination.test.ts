import test from 'ava'
import { onTermination } from '../../core/base/termination.ts'
import { until } from '../harness/until.ts'

test.serial('a signal that npm repeats stops the process once, and a later one ends it at once', async t => {
  let stopped = 0
  onTermination(() => {
    stopped += 1
  })
  t.teardown(() => process.removeAllListeners('SIGTERM'))
  process.emit('SIGINT')
  process.emit('SIGINT')
  t.is(stopped, 1)
  t.true(process.listenerCount('SIGINT') > 0, 'without a listener, the signal would end the process')
  await until('the next signal ends the process', () => process.listenerCount('SIGINT') === 0)
})
