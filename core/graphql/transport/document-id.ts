import { parseJson } from '../../query/parse-json.ts'

type Given = Readonly<Record<string, unknown>>

/**
 * By what a request names a document instead of writing it: `documentId` (GraphQL over HTTP), `doc_id` (Relay), or the
 * hash of `extensions.persistedQuery` (Apollo, urql); null where it does not.
 */
export function documentIdOf({ documentId, doc_id: relayId, extensions }: Given): string | null {
  const named = [documentId, relayId, hashOf(extensions)].find(
    each => typeof each === 'string' && each !== '',
  )
  return typeof named === 'string' ? named.replace(/^sha256:/, '') : null
}

/** In a query string extensions are JSON in a text. */
function hashOf(extensions: unknown): unknown {
  const parsed = typeof extensions === 'string' ? parseJson(extensions) : null
  const given = parsed?.ok ? parsed.value : extensions
  const persisted = isRecord(given) ? given.persistedQuery : null
  return isRecord(persisted) ? persisted.sha256Hash : null
}

const isRecord = (value: unknown): value is Given => typeof value === 'object' && value !== null
