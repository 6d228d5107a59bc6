import type { Values, WrittenDocument } from '../documents/desired-state.ts'
import type { WriteTerms } from '../documents/rows/write-terms.ts'
import { generateUids } from '../documents/state/generate-uids.ts'
import { hashPasswords } from '../documents/values/hash-passwords.ts'
import type { ContentType } from '../model/model.ts'
import type { ContentDocument } from './content.ts'
import { isPassword } from './content-digest.ts'
import type { Existing } from './find-existing.ts'
import { type RealIds, withRealIds } from './resolve-names.ts'

export interface Preparing {
  readonly real: RealIds
  readonly existing: Existing
  readonly terms: WriteTerms
}

export interface Prepared {
  readonly documents: readonly WrittenDocument[]
  /** What the documents were made from, by `sourceKey`. */
  readonly sources: ReadonlyMap<string, ContentDocument>
}

export const sourceKey = ({ type, documentId }: Pick<WrittenDocument, 'type' | 'documentId'>): string =>
  JSON.stringify([type.uid, documentId])

/** Documents as they are to be written: new ones whole, of those that are there what the file names. */
export async function prepare(wanted: readonly ContentDocument[], preparing: Preparing): Promise<Prepared> {
  const { existing, terms } = preparing
  const prepared = wanted.map(source => ({ source, document: toWritten(source, preparing) }))
  const isNew = ({ type, documentId }: WrittenDocument) => !existing.has(type, documentId)
  const made = await hashPasswords(
    await generateUids(prepared.map(({ document }) => document).filter(isNew), terms),
  )
  const byKey = new Map(made.map(document => [sourceKey(document), document]))
  return {
    documents: prepared.map(({ document }) => byKey.get(sourceKey(document)) ?? document),
    sources: new Map(prepared.map(({ document, source }) => [sourceKey(document), source])),
  }
}

function toWritten(source: ContentDocument, { real, existing }: Preparing): WrittenDocument {
  const { type, documentId, versions } = withRealIds(source, real)
  return {
    type,
    documentId,
    versions: versions.map(({ locale, statuses, values }, index) => {
      const given = source.versions[index]?.given
      const isThere = existing.hasVersion(type, documentId, { locale, statuses })
      return { locale, statuses, values: isThere && given ? named(type, values, given) : values }
    }),
  }
}

/** What the file names, but for passwords, which are set once. */
const named = (type: ContentType, values: Values, given: ReadonlySet<string>): Values =>
  new Map([...values].filter(([name]) => given.has(name) && !isPassword(type, name)))
