import { didYouMean } from '../base/nearest.ts'
import type { Values } from '../documents/desired-state.ts'
import type { Diagnostic, Path } from '../faults/diagnostic.ts'
import { describeConflict, findDuplicateValues, type ValueConflict } from '../import/conflicts.ts'
import { type FoundLink, linksIn } from '../import/links.ts'
import { asNew } from '../import/place.ts'
import type { ContentType, Model } from '../model/model.ts'
import { type ContentDocument, diagnose, valuePath } from './content.ts'

export interface TargetCheckOptions {
  readonly model: Model
  /** Keys of the roles in project.yaml. */
  readonly roles: readonly string[]
}

/** Each link must lead to a document of content/ (roles: of the project) that exists in the locale of the link. */
export function checkTargets(
  documents: readonly ContentDocument[],
  options: TargetCheckOptions,
): readonly Diagnostic[] {
  const known = knownDocuments(documents, options)
  return documents.flatMap(document =>
    partsOf(document).flatMap(part =>
      [...linksIn(document.type, part.values)].flatMap(link => {
        const message = targetFault(link, part.locale, known, options.model)
        const path = [...part.path, ...link.path]
        return message === null ? [] : [diagnose('unknown-reference', message, { ...document, path })]
      }),
    ),
  )
}

interface DocumentPart {
  readonly values: Values
  readonly locale: string | null
  /** Path of the values in the file. */
  readonly path: Path
}

function partsOf({ versions, shared, path }: ContentDocument): readonly DocumentPart[] {
  const [first] = versions
  const [common] = shared.values()
  return common && first ? [...versions, { values: common.values, locale: first.locale, path }] : versions
}

type KnownDocuments = ReadonlyMap<ContentType, ReadonlyMap<string, ContentDocument | null>>

function knownDocuments(
  documents: readonly ContentDocument[],
  { model, roles }: TargetCheckOptions,
): KnownDocuments {
  const known = new Map<ContentType, Map<string, ContentDocument | null>>()
  for (const document of documents) {
    const ofType = known.get(document.type) ?? new Map<string, ContentDocument | null>()
    known.set(document.type, ofType.set(document.name, document))
  }
  known.set(model.builtIn.role, new Map(roles.map(key => [key, null])))
  known.set(model.builtIn.locale, new Map(model.locales.map(({ code }) => [code, null])))
  return known
}

/** Worded as in the project file: "unknown target `autor`: did you mean `author`?" */
function targetFault(
  { attribute, target }: FoundLink,
  locale: string | null,
  known: KnownDocuments,
  model: Model,
): string | null {
  const { documentId: name } = target
  // Files are read from content/media/ when the link is parsed.
  if (attribute.target === model.builtIn.file) return null
  const ofType = known.get(attribute.target)
  const found = ofType?.get(name)
  if (found === undefined)
    return `unknown ${attribute.target.key} \`${name}\`${didYouMean(name, ofType?.keys() ?? [])}`
  if (found === null || !attribute.target.localized) return null
  // reference/documents.md#10-connecting: the target must exist in the locale of the link.
  const wanted = locale ?? target.locale ?? model.defaultLocale
  return found.versions.some(version => version.locale === wanted)
    ? null
    : `\`${name}\` has no version in \`${wanted}\``
}

/** Unique values that several documents of content/ have. The database is checked when they are written. */
export const checkDuplicates = (documents: readonly ContentDocument[]): readonly Diagnostic[] =>
  findDuplicateValues(documents.map(document => ({ document, first: asNew(document) }))).map(
    conflictDiagnostic,
  )

export function conflictDiagnostic(conflict: ValueConflict<ContentDocument>): Diagnostic {
  const { document, locale, path, other } = conflict
  const spot = { ...document, path: valuePath(document, locale, path) }
  if (!other) return diagnose('not-unique', describeConflict(conflict), spot)
  const { source } = other.document
  const location = source.location(valuePath(other.document, other.locale, other.path))
  return diagnose('not-unique', describeConflict(conflict), spot, { location, message: 'has it first' })
}
