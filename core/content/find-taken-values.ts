import type { DatabaseFault } from '../database/database-fault.ts'
import type { DesiredDocument } from '../documents/desired-state.ts'
import type { Current } from '../documents/rows/write-load.ts'
import type { LockingTerms } from '../documents/rows/write-terms.ts'
import { ownParts } from '../documents/unique/own-parts.ts'
import { findUniqueConflicts } from '../documents/unique/unique-conflicts.ts'
import { findConflictingClaims, partClaimsOf } from '../documents/unique/unique-conflicts-in-components.ts'
import { violatedAttribute } from '../documents/unique/violated-attribute.ts'
import { type Diagnostic, type Path, printPath } from '../faults/diagnostic.ts'
import type { Storage } from '../model/storage.ts'
import type { ContentDocument } from './content.ts'
import { diagnose } from './content-fault.ts'
import { type PreparedDocuments, sourceKey } from './resolve-names.ts'

/** Reports unique values, including those in components, that another document in the database has. */
export async function findTakenValues(
  { documents, sources }: PreparedDocuments,
  current: Current,
  terms: LockingTerms,
): Promise<readonly Diagnostic[]> {
  const claims = documents.flatMap(document => partClaimsOf(document).map(each => ({ ...each, document })))
  const parts = await findConflictingClaims(claims, ownParts(documents, current, terms), terms)
  const own = await findUniqueConflicts(documents, terms)
  const taken: readonly TakenValue[] = [
    ...own.map(({ attribute, ...each }) => ({ ...each, path: [attribute.name] })),
    ...parts,
  ]
  return taken.flatMap(each => {
    const source = sources.get(sourceKey(each.document))
    return source ? [toDiagnostic(each, source)] : []
  })
}

interface TakenValue {
  readonly document: DesiredDocument
  /** null: not localized, or shared by all locales. */
  readonly locale: string | null
  readonly path: Path
  readonly value: unknown
}

function toDiagnostic({ locale, path, value }: TakenValue, source: ContentDocument): Diagnostic {
  const [first] = source.versions
  const version = source.versions.find(each => each.locale === locale) ?? first
  const message = `another ${path.length > 1 ? 'component' : 'document'} has \`${String(value)}\` already, and \`${printPath(path)}\` must be unique`
  return diagnose('not-unique', message, { ...source, path: [...(version?.path ?? []), ...path] })
}

/**
 * Reports documents that would swap values of a unique attribute. The database checks each row immediately, and a
 * required attribute cannot be null in between.
 */
export function findSwaps(
  documents: readonly ContentDocument[],
  fault: DatabaseFault,
  storage: Storage,
): readonly Diagnostic[] {
  const attribute = violatedAttribute(fault, storage)
  if (!attribute) return []
  const [first, ...others] = documents.flatMap(document =>
    document.versions
      .filter(
        ({ given }) =>
          document.type.attributes.get(attribute.name) === attribute && given.has(attribute.name),
      )
      .map(({ path }) => ({ ...document, path: [...path, attribute.name] })),
  )
  if (!first) return []
  const related = { place: first.source.place(first.path), message: 'the first of them' }
  const message = `\`${attribute.name}\` must be unique and is required: documents that are there cannot exchange their values at once; give one of them a value that none has, start, and then write what you mean`
  return others.map(spot => diagnose('not-unique', message, spot, related))
}
