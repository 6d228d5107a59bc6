import { failed, ok, type Result } from '../base/result.ts'
import type { DatabaseSettings } from '../project/settings/settings.ts'
import { OpeningError, type OpeningFault } from './connect/opening-fault.ts'
import type { Database } from './database.ts'
import { openEmbedded } from './embedded/open-embedded.ts'
import type { OpenOptions } from './open-options.ts'
import { openServer } from './open-server.ts'

/** Opens the database of `database.url` and checks with one connection that it answers. */
export async function openDatabase(
  settings: DatabaseSettings,
  options: OpenOptions,
): Promise<Result<Database, OpeningFault>> {
  const start = performance.now()
  const kind = settings.url === 'embedded' ? 'embedded' : 'server'
  try {
    const database = await (kind === 'embedded' ? openEmbedded : openServer)(settings, options)
    options.observe({ event: 'database.opened', kind, milliseconds: performance.now() - start })
    return ok(database)
  } catch (error) {
    if (error instanceof OpeningError) return failed(error.fault)
    throw error
  }
}
