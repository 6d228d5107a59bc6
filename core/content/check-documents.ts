import { nearest } from '../base/nearest.ts'
import type { Diagnostic } from '../faults/diagnostic.ts'
import type { ContentType, Model, ScalarAttribute } from '../model/model.ts'
import type { ContentDocument, ContentVersion } from './content.ts'
import { diagnose } from './content-fault.ts'
import type { Reference } from './parse-links.ts'

/** References of one document. */
export interface DocumentReferences {
  readonly document: ContentDocument
  readonly references: readonly Reference[]
}

export interface ReferenceTerms {
  readonly documents: readonly ContentDocument[]
  readonly model: Model
  /** Keys of the roles in project.yaml. */
  readonly roles: readonly string[]
}

/** Each reference must point to a document of content/ (roles: of the project) that exists in the locale of the link. */
export function checkReferences(
  all: readonly DocumentReferences[],
  terms: ReferenceTerms,
): readonly Diagnostic[] {
  const known = knownDocuments(terms)
  return all.flatMap(({ document, references }) =>
    references.flatMap(reference => {
      const there = known.get(reference.attribute.target) ?? new Map<string, ContentDocument | null>()
      const found = there.get(reference.word)
      const spot = { ...document, path: reference.path }
      if (found === undefined)
        return [diagnose('unknown-reference', unknownReference(reference, there.keys()), spot)]
      const locale = found && missingLocale(document, reference, found, terms.model)
      if (!locale) return []
      return [diagnose('unknown-reference', `\`${reference.word}\` has no version in \`${locale}\``, spot)]
    }),
  )
}

type KnownDocuments = ReadonlyMap<ContentType, ReadonlyMap<string, ContentDocument | null>>

function knownDocuments({ documents, model, roles }: ReferenceTerms): KnownDocuments {
  const known = new Map<ContentType, Map<string, ContentDocument | null>>()
  for (const document of documents) {
    const there = known.get(document.type) ?? new Map<string, ContentDocument | null>()
    known.set(document.type, there.set(document.name, document))
  }
  known.set(model.builtIn.role, new Map(roles.map(key => [key, null])))
  known.set(model.builtIn.locale, new Map(model.locales.map(({ code }) => [code, null])))
  return known
}

/** Worded as in the project file: "unknown target `autor`: did you mean `author`?" */
function unknownReference({ attribute, word }: Reference, known: Iterable<string>): string {
  const near = nearest(word, known)
  const hint = near === undefined ? '' : `: did you mean \`${near}\`?`
  return `unknown ${attribute.target.key} \`${word}\`${hint}`
}

/** reference/documents.md#10-connecting: the target must exist in the locale of the link. */
function missingLocale(
  document: ContentDocument,
  { attribute, path, target }: Reference,
  found: ContentDocument,
  { defaultLocale }: Model,
): string | null {
  if (!attribute.target.localized) return null
  const own = document.versions
    .toSorted((a, b) => b.path.length - a.path.length)
    .find(version => version.path.every((key, at) => key === path[at]))
  const wanted = own?.locale ?? target.locale ?? defaultLocale
  return found.versions.some(({ locale }) => locale === wanted) ? null : wanted
}

/** reference/documents.md#5-uniqueness: unique values among the documents of content/. The database is checked when they are written. */
export function checkContentUnique(documents: readonly ContentDocument[]): readonly Diagnostic[] {
  const first = new Map<string, UniqueClaim>()
  return documents.flatMap(document =>
    [...document.type.attributes.values()].flatMap(attribute => {
      if (attribute.kind !== 'scalar' || !attribute.unique) return []
      return uniqueClaims(document, attribute).flatMap(claim => {
        const other = first.get(claim.key)
        if (!other) first.set(claim.key, claim)
        return other && other.document !== document ? [notUnique(claim, other)] : []
      })
    }),
  )
}

interface UniqueClaim {
  readonly key: string
  readonly document: ContentDocument
  readonly version: ContentVersion
  readonly attribute: ScalarAttribute
}

const uniqueClaims = (document: ContentDocument, attribute: ScalarAttribute): readonly UniqueClaim[] =>
  document.versions.flatMap(version => {
    const value = version.values.get(attribute.name)
    if (!version.statuses.includes('published') || value?.kind !== 'scalar' || value.value === null) return []
    const key = JSON.stringify([
      document.type.uid,
      attribute.name,
      attribute.localized ? version.locale : null,
      value.value,
    ])
    return [{ key, document, version, attribute }]
  })

const claimSpot = ({ document, version, attribute }: UniqueClaim) => ({
  ...document,
  path: [...version.path, attribute.name],
})

function notUnique(claim: UniqueClaim, other: UniqueClaim): Diagnostic {
  const at = claimSpot(other)
  const related = { place: at.source.place(at.path), message: 'has it first' }
  return diagnose(
    'not-unique',
    `${claim.attribute.name}: This attribute must be unique`,
    claimSpot(claim),
    related,
  )
}
