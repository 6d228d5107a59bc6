import { relative } from 'node:path'
import { Readable } from 'node:stream'
import type { ExecutionContext } from 'ava'
import { type Blueprint, compileApp } from '../../core/app/compile-app.ts'
import { writeContent } from '../../core/content/write-content.ts'
import type { Database } from '../../core/database/database.ts'
import { openDocuments } from '../../core/documents/open-documents.ts'
import { NO_OUTBOX } from '../../core/documents/outbox.ts'
import type { Diagnostic } from '../../core/faults/diagnostic.ts'
import { apiTokenStrategy, createIdentify } from '../../core/identity/identify.ts'
import { syncLocales, syncRoles } from '../../core/identity/sync-declared-rows.ts'
import { endSessionsOfChangedUsers } from '../../core/identity/users/user-documents.ts'
import { openLocalStorage } from '../../core/media/storage/open-storage.ts'
import { migrate } from '../../core/migrate/migrate.ts'
import { openRest } from '../../core/rest/open-rest.ts'
import type { Statement } from '../../core/sql/statement.ts'
import { type Folder, temporaryFolder } from '../harness/folder.ts'
import { openTestDatabase } from '../harness/test-database.ts'

export type Files = Readonly<Record<string, string | Uint8Array>>

const TOKEN = 'full-token-of-the-tests-of-content-000'

/** A project with its own folder and database, which a test can start repeatedly. */
export interface Site {
  readonly folder: Folder
  readonly database: Database
  /** Statements since the last start began. */
  readonly statements: readonly Statement[]
  /** Number of edited entries by file that the last start did not write. */
  kept(): Readonly<Record<string, number>>
  /** Reads the files and writes due documents. Returns their number by type, or the faults. */
  start(files?: Files): Promise<Readonly<Record<string, number>> | readonly string[]>
  /** The same; fails the test if there are faults. */
  must(files?: Files): Promise<Readonly<Record<string, number>>>
  /** The `data` of a REST read with a full-access token. */
  // biome-ignore lint/suspicious/noExplicitAny: answers are looked into freely
  get(path: string): Promise<any>
  rows(text: string, values?: readonly unknown[]): Promise<readonly (readonly unknown[])[]>
}

/** `content/articles.yaml:3:10 message` */
export const printed = ({ location, message, related }: Diagnostic): string =>
  `${location.file}:${location.line}:${location.column} ${message}${related ? ` (${related.location.file}:${related.location.line}:${related.location.column} ${related.message})` : ''}`

/** Below the app, because tests repeat the start on one database and count its statements. */
export async function openSite(t: ExecutionContext, files: Files, copyOf?: string): Promise<Site> {
  const folder = temporaryFolder(copyOf)
  t.teardown(() => folder.remove())
  for (const [name, text] of Object.entries(files)) folder.write(name, withToken(name, text))
  const database = await openTestDatabase(t)
  const statements: Statement[] = []
  let blueprint: Blueprint | undefined
  let kept: Readonly<Record<string, number>> = {}
  const start = async (changed: Files = {}) => {
    for (const [name, text] of Object.entries(changed)) folder.write(name, withToken(name, text))
    const compiled = await compileApp(folder.path, {})
    if (!compiled.ok) return compiled.reasons.map(printed)
    blueprint = compiled.value
    const { project, model, storage, content } = blueprint
    const migrated = await migrate(database, storage.tables)
    if (!migrated.ok) return migrated.reasons.map(({ message }) => message)
    await syncRoles(project.settings.roles, { database, model, storage })
    await syncLocales({ database, model, storage })
    statements.length = 0
    const watched = watch(database, statements)
    const written = await writeContent(content, {
      database: watched,
      model,
      storage,
      files: openLocalStorage(folder.path),
      outbox: NO_OUTBOX,
      beforeUsers: (transaction, users) => endSessionsOfChangedUsers(transaction, users, { model, storage }),
    })
    if (!written.ok) return written.reasons.map(printed)
    kept = Object.fromEntries(
      [...written.value.kept].map(([file, count]) => [relative(folder.path, file), count]),
    )
    return Object.fromEntries(written.value.written)
  }
  return {
    folder,
    database,
    statements,
    kept: () => kept,
    start,
    async must(changed) {
      const result = await start(changed)
      if (Array.isArray(result)) throw new Error(result.join('\n'))
      return result as Readonly<Record<string, number>>
    },
    async get(path) {
      if (!blueprint) throw new Error('not started')
      return read(blueprint, database, path)
    },
    rows: async (text, values = []) => (await database.run({ text, values })).rows,
  }
}

const withToken = (name: string, text: string | Uint8Array): string | Uint8Array =>
  name === 'project.yaml' && !String(text).includes('apiTokens:')
    ? `name: Test\n${text}\napiTokens: { full: { type: full-access, secret: ${TOKEN} } }\n`
    : text

/** The database with a log of all statements, including those of transactions. */
function watch(database: Database, statements: Statement[]): Database {
  const note = (statement: Statement): Statement => {
    statements.push(statement)
    return statement
  }
  return {
    ...database,
    run: (statement, options) => database.run(note(statement), options),
    transaction: (work, options) =>
      database.transaction(
        transaction =>
          work({
            ...transaction,
            run: statement => transaction.run(note(statement)),
            send: statement => transaction.send(note(statement)),
          }),
        options,
      ),
  }
}

async function read({ model, storage, project, access }: Blueprint, database: Database, path: string) {
  const documents = openDocuments({ database, storage, model })
  const identify = createIdentify(access.publicCaller, [apiTokenStrategy(project.settings.apiTokens, access)])
  const rest = openRest({ model, settings: project.settings.rest, documents, identify, runMiddlewares: null })
  const [address = '', search = ''] = path.split('?')
  const headers = { authorization: `Bearer ${TOKEN}` }
  const body = () => Promise.reject(new Error('a read has no body'))
  const answer = await rest({
    id: '1',
    method: 'GET',
    path: `/api/${address}`,
    search,
    headers,
    peer: '',
    body,
    stream: () => Readable.from([]),
  })
  if (!answer || typeof answer.body !== 'string') throw new Error(`no answer for ${path}`)
  const parsed = JSON.parse(answer.body)
  if (answer.status !== 200) throw new Error(`${answer.status} ${answer.body}`)
  return parsed.data
}
