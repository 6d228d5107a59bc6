import { type Blueprint, compileApp } from '../../core/app/compile-app.ts'
import { type App, prepareApp } from '../../core/app/open-app.ts'
import type { Result } from '../../core/base/result.ts'
import type { Database } from '../../core/database/database.ts'
import { openInMemory } from '../../core/http/in-memory.ts'
import type { Observer } from '../../core/observe/observation.ts'
import { temporaryFolder } from '../harness/folder.ts'
import { openTestDatabase } from '../harness/test-database.ts'

/** A project that answers without a port. */
export interface Site {
  /** Reads what was sent to the database since it was last read. */
  statements(): readonly string[]
  /** Delays the database's answers from now on. */
  hold(): Held
  ask(method: string, path: string, asking?: Asking): Promise<Reported>
  /** The `data` of a good answer to the full token. */
  data(method: string, path: string, data?: unknown): Promise<Document>
}

export interface Held {
  /** Once the database has answered something that is held. */
  readonly answered: Promise<void>
  release(): void
}

export interface Asking {
  /** The token after `Bearer `. */
  readonly as?: string
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

export interface Reported {
  readonly status: number
  readonly text: string
  readonly headers: Readonly<Record<string, unknown>>
}

export interface Document {
  readonly [key: string]: unknown
  readonly id: number
  readonly documentId: string
}

export const FULL = 'full-access-for-the-tests-of-the-cache'

const SILENT: Observer = { isEnabled: () => false, emit: () => {} }

type Ends = Parameters<typeof openTestDatabase>[0]

export interface TwoApps {
  readonly database: Database
  readonly cached: Site
  readonly plain: Site
  /** Another project over the same database, which migrates it. */
  open(yaml: string): Promise<Site>
  close(): Promise<void>
}

interface TwoAppsOptions {
  readonly observer?: Observer
  /** Source of an extension of each of them. */
  readonly extension?: string
}

/**
 * The same project twice over one database: one with a cache, the other without, as the expected result. It is below
 * the app, because tests count and delay the statements of each.
 */
export async function openTwoApps(
  yaml: string,
  { observer = SILENT, extension }: TwoAppsOptions = {},
): Promise<TwoApps> {
  const endings: (() => unknown)[] = []
  const ends: Ends = { teardown: end => void endings.unshift(end) }
  const database = await openTestDatabase(ends)
  const open = async (text: string): Promise<Site> => {
    const folder = temporaryFolder()
    ends.teardown(() => folder.remove())
    folder.write('project.yaml', text)
    if (extension !== undefined) folder.write('extensions/code.js', extension)
    return openSite(ends, passed(await compileApp(folder.path, {})), { bare: database, observer })
  }
  return {
    database,
    cached: await open(yaml),
    plain: await open(`${yaml}\ncache: { enabled: false }\n`),
    open,
    async close() {
      for (const end of endings) await end()
    },
  }
}

interface SiteOptions {
  readonly bare: Database
  readonly observer: Observer
}

async function openSite(t: Ends, blueprint: Blueprint, { bare, observer }: SiteOptions): Promise<Site> {
  let statements: string[] = []
  let checksToCome = 0
  let gate: { passes: Promise<void>; answered: () => void } | null = null
  const counting: Database = {
    ...bare,
    async run(statement, options) {
      // Runs a while after writes, for no request. If it finds nothing, a check of the generation follows.
      if (statement.name === 'find tables with outdated statistics') {
        const found = await bare.run(statement, options)
        if (found.rows.length === 0) checksToCome++
        return found
      }
      if (checksToCome > 0 && statement.name === 'require the generation of the tables') {
        checksToCome--
        return bare.run(statement, options)
      }
      statements.push(statement.name ?? statement.text)
      const held = gate
      const rows = await bare.run(statement, options)
      held?.answered()
      await held?.passes
      return rows
    },
  }
  const ready = passed(await prepareApp(blueprint, { production: false, observer }))
  const app = passed(await ready(counting))
  t.teardown(() => app.close())
  const ask = await askerOf(app, observer)
  return {
    statements() {
      const sent = statements
      statements = []
      return sent
    },
    hold() {
      const [passing, answering] = [withResolvers(), withResolvers()]
      gate = { passes: passing.promise, answered: answering.resolve }
      const release = () => {
        gate = null
        passing.resolve()
      }
      return { answered: answering.promise, release }
    },
    ask,
    async data(method, path, data) {
      const reported = await ask(method, path, {
        as: FULL,
        ...(data === undefined ? {} : { body: { data } }),
      })
      if (reported.status >= 300) throw new Error(`${method} ${path}: ${reported.status} ${reported.text}`)
      return (reported.text === '' ? {} : JSON.parse(reported.text).data) as Document
    },
  }
}

function withResolvers(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = () => {}
  const promise = new Promise<void>(done => {
    resolve = done
  })
  return { promise, resolve }
}

async function askerOf({ blueprint, responders, callerOf }: App, observer: Observer): Promise<Site['ask']> {
  const settings = blueprint.project.settings.server
  const { send } = await openInMemory({
    ...{ settings, responders, callerOf, observer },
    ...{ fallback: null, middlewares: [] },
  })
  return async (method, path, { as, body, headers = {} } = {}) => {
    const input = {
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(as === undefined ? {} : { authorization: `Bearer ${as}` }),
      ...headers,
    }
    const bytes = body === undefined ? null : Buffer.from(JSON.stringify(body))
    const answer = await send({ method, path, headers: input, body: bytes })
    return { status: answer.status, text: answer.body.toString('utf8'), headers: answer.headers }
  }
}

function passed<Value>(result: Result<Value, unknown>): Value {
  if (result.ok) return result.value
  throw new Error(JSON.stringify(result.reasons, null, 2))
}
