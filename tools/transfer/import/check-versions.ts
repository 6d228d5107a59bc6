import { checkValues } from '../../../core/documents/values/check-values.ts'
import type { ValueFault } from '../../../core/documents/values/value-fault.ts'
import { printPath } from '../../../core/faults/diagnostic.ts'
import type { Attribute, ContentType } from '../../../core/model/model.ts'
import type { LineFault } from '../line-fault.ts'
import { aboutVersion, nameOf, type ParsedDocument } from './parsed-document.ts'

function* versionsTwice({ versions }: ParsedDocument): Generator<string> {
  const seen = new Set<string>()
  for (const { locale, status } of versions) {
    const words = [locale, status].filter(word => word !== null).join(', ')
    if (seen.has(words)) yield `there are two versions (${words})`
    seen.add(words)
  }
}

/** documents.md 1: no published version without its draft, none twice. */
export function checkVersions(document: ParsedDocument): readonly LineFault[] {
  const { type, line, documentId, versions } = document
  const lonely = versions.filter(
    ({ locale, status }) =>
      type.draftAndPublish &&
      status === 'published' &&
      !versions.some(each => each.status === 'draft' && each.locale === locale),
  )
  const messages = [
    ...versionsTwice(document),
    ...lonely.map(
      ({ locale }) => `the published version${locale === null ? '' : ` (${locale})`} comes without its draft`,
    ),
  ]
  return messages.map(message => ({ line, about: nameOf(type, documentId), message }))
}

/** What published versions lack in these attributes, or have beyond their rules. */
export function checkPublished(
  document: ParsedDocument,
  covers: (attribute: Attribute) => boolean,
): readonly LineFault[] {
  const { type, documentId, line, versions, defaults, shared } = document
  return versions
    .filter(({ status }) => status === 'published')
    .flatMap(version => {
      const values = new Map([...defaults, ...version.values, ...(shared.get('published')?.values ?? [])])
      const faults = checkValues(type, values, { covers, plain: !type.draftAndPublish })
      const about = aboutVersion(type, documentId, version)
      return faults.map(fault => ({ line, about, message: explained(type, fault) }))
    })
}

/** A rule's sentence begins with the place; one of a key of the document itself names it. */
export function printFault({ kind, path, message }: ValueFault): string {
  const place = printPath(path)
  return message.startsWith(place) || (kind === 'key' && path.length === 1) ? message : `${place}: ${message}`
}

function explained(type: ContentType, fault: ValueFault): string {
  const { path } = fault
  const message = printFault(fault)
  const attribute = type.attributes.get(String(path[0]))
  const isPassword = attribute?.kind === 'scalar' && attribute.type === 'password'
  return isPassword
    ? `${message} (an export tells hashes of passwords with --password-hashes alone)`
    : message
}
