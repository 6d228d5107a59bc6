import type { Diagnostic } from '../faults/diagnostic.ts'
import type { ScalarAttribute } from '../model/model.ts'
import type { ContentDocument, ContentVersion } from './content.ts'
import { diagnose } from './content-fault.ts'

/** documents.md 5, among the documents of content/ themselves; what is in the database is asked when they are written. */
export function checkUnique(documents: readonly ContentDocument[]): readonly Diagnostic[] {
  const first = new Map<string, Claim>()
  return documents.flatMap(document =>
    [...document.type.attributes.values()].flatMap(attribute => {
      if (attribute.kind !== 'scalar' || !attribute.unique) return []
      return claimsOf(document, attribute).flatMap(claim => {
        const other = first.get(claim.key)
        if (!other) first.set(claim.key, claim)
        return other && other.document !== document ? [notUnique(claim, other)] : []
      })
    }),
  )
}

interface Claim {
  readonly key: string
  readonly document: ContentDocument
  readonly version: ContentVersion
  readonly attribute: ScalarAttribute
}

const claimsOf = (document: ContentDocument, attribute: ScalarAttribute): readonly Claim[] =>
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

const spotOf = ({ document, version, attribute }: Claim) => ({
  ...document,
  path: [...version.path, attribute.name],
})

function notUnique(claim: Claim, other: Claim): Diagnostic {
  const at = spotOf(other)
  const related = { place: at.source.place(at.path), message: 'has it first' }
  return diagnose(
    'not-unique',
    `${claim.attribute.name}: This attribute must be unique`,
    spotOf(claim),
    related,
  )
}
