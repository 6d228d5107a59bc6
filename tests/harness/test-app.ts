import type { ExecutionContext } from 'ava'
import { createTestApp, type TestApp, type TestAppOptions } from '../../core/testing.ts'
import { snapshot } from './embedded-files.ts'
import { createDatabase, testServer } from './test-database.ts'

type Test = Pick<ExecutionContext, 'teardown'>

/** Opens an app of plinth/testing with its own empty database, on the test server if there is one. Closes it with the test. */
export async function openTestApp(t: Test, options: TestAppOptions): Promise<TestApp> {
  const server = testServer()
  const database = server ? { database: await createDatabase(t, server) } : { snapshot: await snapshot() }
  const app = await createTestApp({ ...database, ...options })
  t.teardown(() => app.close())
  return app
}

/** A `teardown` for what a whole file shares: `after` is its `test.after.always`, which runs the ends in reverse order. */
export function teardownOfFile(after: (run: () => Promise<void>) => void): Test {
  const ends: (() => unknown)[] = []
  after(async () => {
    for (const end of ends.toReversed()) await end()
  })
  return { teardown: end => void ends.push(end) }
}
