import type { RequestListener } from 'node:http'
import { join } from 'node:path'
import { failed, ok, type Result } from '../base/result.ts'
import type { Database } from '../database/database.ts'
import { migrate } from '../database/migrate.ts'
import type { DatabaseObservation } from '../database/observation.ts'
import { openDatabase } from '../database/open-database.ts'
import type { OpenOptions } from '../database/open-options.ts'
import { openReads } from '../documents/read.ts'
import { readOnly } from '../documents/read-only.ts'
import type { Responder } from '../faults/exchange.ts'
import { expressHost } from '../http/express-host.ts'
import { mountUploads } from '../http/mount-uploads.ts'
import { apiTokenStrategy } from '../identity/api-tokens.ts'
import { createIdentify } from '../identity/identify.ts'
import type { Observer } from '../observe/observation.ts'
import { openRest } from '../rest/open-rest.ts'
import type { Blueprint } from './compile-app.ts'
import { type Filled, fillDatabase } from './fill-database.ts'
import { printLeft, type StartFault } from './start-fault.ts'
import { tellSteps } from './tell-steps.ts'

/** A project over an open database, ready to answer; it listens to nothing yet. */
export interface App {
  readonly blueprint: Blueprint
  readonly database: Database
  readonly responders: readonly Responder[]
  /** Takes what no responder answers: the uploaded files. */
  host(observer: Observer): () => Promise<RequestListener>
  /** What opening it did, a sentence each. */
  readonly news: readonly string[]
  close(): Promise<void>
}

/** Under the project's folder. */
const UPLOADS = '.plinth/uploads'

export type OpenTerms = Pick<OpenOptions, 'embedded'> & {
  readonly observe: (observation: DatabaseObservation) => void
}

/** Blueprint → database, its tables, the documents of content/ → what answers requests. */
export async function openApp(blueprint: Blueprint, terms: OpenTerms): Promise<Result<App, StartFault>> {
  const { project } = blueprint
  const opened = await openDatabase(project.settings.database, { root: project.root, ...terms })
  if (!opened.ok) return failed(...opened.reasons.map((fault): StartFault => ({ kind: 'database', fault })))
  const database = opened.value
  const prepared = await prepare(blueprint, database).catch(async (error: unknown) => {
    await database.close()
    throw error
  })
  if (prepared.ok) return ok(toApp(blueprint, database, prepared.value))
  await database.close()
  return prepared
}

/** Brings tables, roles, locales and content in step with the files. */
async function prepare(
  blueprint: Blueprint,
  database: Database,
): Promise<Result<readonly string[], StartFault>> {
  const migrated = await migrate(database, blueprint.storage.tables)
  if (!migrated.ok) return failed({ kind: 'schema', refusals: migrated.reasons })
  const { steps, left } = migrated.value
  const filled: Result<Filled, StartFault> = await fillDatabase(blueprint, database)
  if (!filled.ok) return filled
  return ok([...tellSteps(steps), ...left.map(printLeft), ...filled.value.news])
}

function toApp(blueprint: Blueprint, database: Database, news: readonly string[]): App {
  const { project, model, storage, access } = blueprint
  const { settings } = project
  const documents = readOnly(openReads({ database, storage, defaultLocale: model.defaultLocale }))
  const identify = createIdentify(access.nobody, [apiTokenStrategy(settings.apiTokens, access)])
  const rest = openRest({ model, settings: settings.rest, documents, identify })
  const uploads = join(project.root, UPLOADS)
  return {
    blueprint,
    database,
    news,
    responders: [rest],
    host: observer => expressHost(app => mountUploads(app, uploads), observer),
    close: () => database.close(),
  }
}
