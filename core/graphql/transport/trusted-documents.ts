import { createHash } from 'node:crypto'
import { type DocumentNode, GraphQLError, print } from 'graphql'
import { failed, ok, type Result } from '../../base/result.ts'
import { parseJsonBody } from '../../query/parse-json.ts'

/** The documents of `graphql.config.trustedDocuments`. */
export interface TrustedDocuments {
  /** Whether nothing else is answered. */
  readonly only: boolean
  /** By the name of its file without ending, or by a hash. */
  readonly texts: ReadonlyMap<string, string>
}

export interface TrustedFile {
  /** From the folder, with `/`; without its ending. */
  readonly name: string
  readonly text: string
  readonly document: DocumentNode
}

/** Clients hash what they send: the text of the file, with or without the end of its last line, or as graphql-js prints it. */
export function openTrusted(files: readonly TrustedFile[], only: boolean): TrustedDocuments {
  const texts = new Map<string, string>()
  for (const { name, text, document } of files) {
    texts.set(name, text)
    for (const form of [text, text.trimEnd(), print(document)]) texts.set(hash(form), text)
  }
  return { only, texts }
}

const hash = (text: string): string => createHash('sha256').update(text).digest('hex')

/** The text that a request asks to be run: what it names, else what it writes, where that may be. */
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

/** What Apollo's clients look for: they send the document itself then. */
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
 * By what a request names a document instead of writing it: `documentId` (GraphQL over HTTP), `doc_id` (Relay), or the
 * hash of `extensions.persistedQuery` (Apollo, urql); null where it does not.
 */
export function requestedDocumentId({ documentId, doc_id: relayId, extensions }: Given): string | null {
  const named = [documentId, relayId, hashOf(extensions)].find(
    each => typeof each === 'string' && each !== '',
  )
  return typeof named === 'string' ? named.replace(/^sha256:/, '') : null
}

/** In a query string extensions are JSON in a text. */
function hashOf(extensions: unknown): unknown {
  const parsed = typeof extensions === 'string' ? parseJsonBody(extensions) : null
  const given = parsed?.ok ? parsed.value : extensions
  const persisted = isRecord(given) ? given.persistedQuery : null
  return isRecord(persisted) ? persisted.sha256Hash : null
}

const isRecord = (value: unknown): value is Given => typeof value === 'object' && value !== null
