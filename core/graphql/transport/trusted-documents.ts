import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join, resolve, sep } from 'node:path'
import { type DocumentNode, GraphQLError, type GraphQLSchema, print } from 'graphql'
import { failed, ok, type Result } from '../../base/result.ts'
import type { Diagnostic, SourceLocation } from '../../faults/diagnostic.ts'
import { attempt } from '../../faults/fault.ts'
import type { GraphqlSettings } from '../../project/settings/settings.ts'
import { parseJsonBody } from '../../query/parse-json.ts'
import { checkDocument } from '../limits/check-document.ts'

/** The documents of `graphql.config.trustedDocuments`. */
export interface TrustedDocuments {
  /** Refuse all other documents. */
  readonly only: boolean
  /** Texts by file name without extension, and by hash. */
  readonly texts: ReadonlyMap<string, string>
}

export interface TrustedFile {
  /** Path relative to the folder, with `/`, without extension. */
  readonly name: string
  readonly text: string
  readonly document: DocumentNode
}

/** Indexes documents by all hashes that clients send: of the file's text, with or without the final newline, and of graphql-js's print. */
export function openTrusted(files: readonly TrustedFile[], only: boolean): TrustedDocuments {
  const texts = new Map<string, string>()
  for (const { name, text, document } of files) {
    texts.set(name, text)
    for (const form of [text, text.trimEnd(), print(document)]) texts.set(hash(form), text)
  }
  return { only, texts }
}

const hash = (text: string): string => createHash('sha256').update(text).digest('hex')

/** The document to run: the named one, else the sent text if it is allowed. */
export function documentText(
  { documentId, query }: { readonly documentId: string | null; readonly query: string },
  trusted: TrustedDocuments | null,
): Result<string, GraphQLError> {
  const named = documentId === null ? undefined : trusted?.texts.get(documentId)
  if (named !== undefined) return ok(named)
  if (query === '') return failed(trusted ? NOT_FOUND : NOT_SUPPORTED)
  if (!trusted?.only || trusted.texts.has(hash(query))) return ok(query)
  return failed(UNTRUSTED)
}

/** Apollo clients send the document itself after this error. */
const NOT_FOUND = new GraphQLError('PersistedQueryNotFound', {
  extensions: { code: 'PERSISTED_QUERY_NOT_FOUND' },
})

const NOT_SUPPORTED = new GraphQLError('PersistedQueryNotSupported', {
  extensions: { code: 'PERSISTED_QUERY_NOT_SUPPORTED' },
})

const UNTRUSTED = new GraphQLError('Only trusted documents are answered here', {
  extensions: { code: 'UNTRUSTED_DOCUMENT' },
})

type Given = Readonly<Record<string, unknown>>

/**
 * The id of a persisted document in a request: `documentId` (GraphQL over HTTP), `doc_id` (Relay), or the hash in
 * `extensions.persistedQuery` (Apollo, urql); null without one.
 */
export function requestedDocumentId({ documentId, doc_id: relayId, extensions }: Given): string | null {
  const named = [documentId, relayId, hashOf(extensions)].find(
    each => typeof each === 'string' && each !== '',
  )
  return typeof named === 'string' ? named.replace(/^sha256:/, '') : null
}

/** In a query string, extensions are JSON text. */
function hashOf(extensions: unknown): unknown {
  const parsed = typeof extensions === 'string' ? attempt(() => parseJsonBody(extensions)) : null
  const input = parsed?.ok ? parsed.value : extensions
  const persisted = isRecord(input) ? input.persistedQuery : null
  return isRecord(persisted) ? persisted.sha256Hash : null
}

const isRecord = (value: unknown): value is Given => typeof value === 'object' && value !== null

interface TrustedOptions {
  /** The project's folder. */
  readonly root: string
  readonly config: GraphqlSettings['config']
  /** One for each format. A document must be valid in one of them. */
  readonly schemas: readonly GraphQLSchema[]
  /** Position of the folder's name in project.yaml. */
  readonly location: SourceLocation
}

/** Loads and checks every .graphql file of the folder; fails with all faults. null: no folder is configured. */
export async function loadTrusted(
  options: TrustedOptions,
): Promise<Result<TrustedDocuments | null, Diagnostic>> {
  const { folder, only } = options.config.trustedDocuments
  if (folder === null) return ok(null)
  const names = await filesOf(resolve(options.root, folder))
  if (!names) return failed(trustedFault(`${folder} is no folder that can be read`, options.location))
  const results = await Promise.all(names.map(name => loadFile(name, folder, options)))
  const faults = results.flatMap(result => (result.ok ? [] : result.reasons))
  if (faults.length > 0) return failed(...faults)
  return ok(
    openTrusted(
      results.flatMap(result => (result.ok ? [result.value] : [])),
      only,
    ),
  )
}

async function filesOf(folder: string): Promise<readonly string[] | null> {
  try {
    const all = await readdir(folder, { recursive: true })
    return all.filter(name => name.endsWith('.graphql')).sort()
  } catch (error) {
    if (error instanceof Error && 'code' in error) return null
    throw error
  }
}

async function loadFile(
  file: string,
  folder: string,
  { root, config, schemas }: TrustedOptions,
): Promise<Result<TrustedFile, Diagnostic>> {
  const text = await readFile(join(resolve(root, folder), file), 'utf8')
  const checks = schemas.map(schema => checkDocument(text, { schema, config, introspects: true }))
  const name = file.split(sep).join('/')
  for (const checked of checks)
    if (checked.ok)
      return ok({ name: name.replace(/\.graphql$/, ''), text, document: checked.value.document })
  const [errors = []] = checks.map(checked => (checked.ok ? [] : checked.reasons))
  return failed(...errors.map(error => trustedFault(error.message, placeOf(error, join(folder, name), text))))
}

function placeOf({ locations }: GraphQLError, file: string, text: string): SourceLocation {
  const { line, column } = locations?.[0] ?? { line: 1, column: 1 }
  return { file, line, column, source: text.split(/\r?\n/)[line - 1] ?? '' }
}

const trustedFault = (message: string, location: SourceLocation): Diagnostic => ({
  code: 'bad-trusted-document',
  message,
  location,
  path: [],
})
