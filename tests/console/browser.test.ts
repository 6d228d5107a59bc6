import { spawn } from 'node:child_process'
import { once } from 'node:events'
import test from 'ava'
import { program } from '../harness/program.ts'
import { until } from '../harness/until.ts'

const answers = (port: string): Promise<boolean> =>
  fetch(`http://127.0.0.1:${port}/json/version`).then(
    ({ ok }) => ok,
    () => false,
  )

test('the browser of a test ends when the process of the test is killed', async t => {
  const child = spawn(process.execPath, program('tests/console/fixtures/open-and-wait.ts'), {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.teardown(() => child.kill('SIGKILL'))
  const [printed] = (await once(child.stdout, 'data')) as [Buffer]
  const port = String(printed).trim()
  t.true(await answers(port))
  child.kill('SIGKILL')
  await until('the browser has ended', async () => !(await answers(port)))
})
