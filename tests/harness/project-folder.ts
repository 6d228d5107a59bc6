import type { ExecutionContext } from 'ava'
import { layEmbedded } from './embedded-files.ts'
import { temporaryFolder } from './folder.ts'
import { createDatabase, testServer } from './test-database.ts'

/** A temporary folder for a project, and the `database.url` of an empty database for it, on the test server if there is one. */
export async function projectFolder(t: Pick<ExecutionContext, 'teardown'>) {
  const folder = temporaryFolder()
  t.teardown(folder.remove)
  const server = testServer()
  if (server) return { folder, url: await createDatabase(t, server) }
  await layEmbedded(folder.path)
  return { folder, url: 'embedded' }
}
