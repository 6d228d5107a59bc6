import { memoize } from '../base/memo.ts'
import type { DesiredDocument } from '../documents/desired-state.ts'
import type { LockingOptions } from '../documents/rows/write-options.ts'
import { findUniqueConflicts } from '../documents/unique/unique-conflicts.ts'
import { findConflictingClaims, partClaimsOf } from '../documents/unique/unique-conflicts-in-components.ts'
import { type Path, printPath } from '../faults/diagnostic.ts'
import type { Component, ContentType, Holder, ScalarAttribute } from '../model/model.ts'

/** A document of a source, and its form for writing. */
export interface ConflictCandidate<Source> {
  readonly document: Source
  readonly first: DesiredDocument
}

/** A unique value of a document or of one of its components. */
export interface UniqueClaim {
  /** null: not localized. */
  readonly locale: string | null
  readonly path: Path
  readonly value: unknown
}

/** A unique value that another document has. */
export interface ValueConflict<Source> extends UniqueClaim {
  readonly document: Source
  /** The claim of the other document, if it is in the source. */
  readonly other?: UniqueClaim & { readonly document: Source }
}

export const describeConflict = ({ path, value }: UniqueClaim): string =>
  `\`${printPath(path)}\` must be unique, and another ${path.length > 1 ? 'component' : 'document'} has \`${String(value)}\` already`

export interface KeyedClaim extends UniqueClaim {
  /** Claims with the same key conflict. */
  readonly key: string
}

/** The unique values of a document and of its components. */
export function uniqueClaims(document: DesiredDocument): readonly KeyedClaim[] {
  const { type, versions } = document
  const own = uniqueAttributes(type).flatMap(({ name }) =>
    versions.flatMap(({ statuses, locale, values }) => {
      const value = values.get(name)
      if (!statuses.includes('published') || value?.kind !== 'scalar' || value.value === null) return []
      return [toClaim(type, { locale, path: [name], value: value.value })]
    }),
  )
  return [...own, ...partClaimsOf(document).map(({ component, ...claim }) => toClaim(component, claim))]
}

const uniqueAttributes = memoize(({ attributes }: ContentType): readonly ScalarAttribute[] =>
  [...attributes.values()].filter(each => each.kind === 'scalar').filter(({ unique }) => unique),
)

const toClaim = ({ uid }: Holder, { locale, path, value }: UniqueClaim): KeyedClaim => ({
  key: JSON.stringify([uid, path.at(-1), locale, value]),
  ...{ locale, path, value },
})

/** Values that the source claims twice, one conflict per document and path. */
export function findDuplicateValues<Source>(
  candidates: readonly ConflictCandidate<Source>[],
): readonly ValueConflict<Source>[] {
  const seen = new Map<string, UniqueClaim & { readonly document: Source }>()
  const found: ValueConflict<Source>[] = []
  for (const { document, first } of candidates)
    for (const { key, ...claim } of uniqueClaims(first)) {
      const other = seen.get(key)
      if (other) found.push({ ...claim, document, other })
      else seen.set(key, { ...claim, document })
    }
  return distinct(found)
}

/**
 * Unique values that another document has, in the database or among the candidates, including values of components. The
 * existing components of the candidates (`ownParts`) may keep their values.
 */
export async function findConflicts<Source>(
  candidates: readonly ConflictCandidate<Source>[],
  ownParts: (component: Component) => readonly number[],
  options: LockingOptions,
): Promise<readonly ValueConflict<Source>[]> {
  const claims = candidates.flatMap(({ document, first }) =>
    partClaimsOf(first).map(claim => ({ ...claim, document })),
  )
  const parts = await findConflictingClaims(claims, ownParts, options)
  const sources = new Map(candidates.map(({ document, first }) => [first, document]))
  const taken = await findUniqueConflicts([...sources.keys()], options)
  const values = taken.flatMap(({ document: first, attribute, ...claim }) => {
    const document = sources.get(first)
    return document === undefined ? [] : [{ ...claim, document, path: [attribute.name] }]
  })
  return distinct([...values, ...findDuplicateValues(candidates), ...parts])
}

/** One conflict per document and path: the first. */
function distinct<Source>(conflicts: readonly ValueConflict<Source>[]): readonly ValueConflict<Source>[] {
  const seen = new Map<Source, Set<string>>()
  return conflicts.filter(({ document, path }) => {
    const paths = seen.get(document) ?? new Set<string>()
    seen.set(document, paths)
    const isNew = !paths.has(printPath(path))
    paths.add(printPath(path))
    return isNew
  })
}
