import { nearest } from '../base/nearest.ts'
import type { Diagnostic } from '../faults/diagnostic.ts'
import type { ContentType, Model } from '../model/model.ts'
import type { ContentDocument } from './content.ts'
import { diagnose } from './content-fault.ts'
import type { Reference } from './parse-links.ts'

/** The references that one document makes. */
export interface References {
  readonly document: ContentDocument
  readonly references: readonly Reference[]
}

export interface ReferenceTerms {
  readonly documents: readonly ContentDocument[]
  readonly model: Model
  /** The keys of project.yaml's roles. */
  readonly roles: readonly string[]
}

/** Every reference leads to a document of content/ (a role to one of the project), in the locale that it means. */
export function checkReferences(all: readonly References[], terms: ReferenceTerms): readonly Diagnostic[] {
  const known = knownDocuments(terms)
  return all.flatMap(({ document, references }) =>
    references.flatMap(reference => {
      const there = known.get(reference.attribute.target) ?? new Map<string, ContentDocument | null>()
      const found = there.get(reference.word)
      const spot = { ...document, path: reference.path }
      if (found === undefined) return [diagnose('unknown-reference', unknown(reference, there.keys()), spot)]
      const locale = found && missingLocale(document, reference, found, terms.model)
      if (!locale) return []
      return [diagnose('unknown-reference', `\`${reference.word}\` has no version in \`${locale}\``, spot)]
    }),
  )
}

type Known = ReadonlyMap<ContentType, ReadonlyMap<string, ContentDocument | null>>

function knownDocuments({ documents, model, roles }: ReferenceTerms): Known {
  const known = new Map<ContentType, Map<string, ContentDocument | null>>()
  for (const document of documents) {
    const there = known.get(document.type) ?? new Map<string, ContentDocument | null>()
    known.set(document.type, there.set(document.name, document))
  }
  known.set(model.builtIn.role, new Map(roles.map(key => [key, null])))
  known.set(model.builtIn.locale, new Map(model.locales.map(({ code }) => [code, null])))
  return known
}

/** In the words of the project file: "unknown target `autor`: did you mean `author`?" */
function unknown({ attribute, word }: Reference, known: Iterable<string>): string {
  const near = nearest(word, known)
  const hint = near === undefined ? '' : `: did you mean \`${near}\`?`
  return `unknown ${attribute.target.key} \`${word}\`${hint}`
}

/** documents.md 10: the target has to be there in the locale of the link. */
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
