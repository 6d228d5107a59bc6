import { RequestFault } from '../faults/fault.ts'
import type { Attribute, ContentType } from '../model/model.ts'
import { becoming } from './becoming.ts'
import { checkUnique } from './check-unique.ts'
import { checkValues } from './check-values.ts'
import { generateUids } from './generate-uids.ts'
import { toRefusal } from './refusal.ts'
import { isPublishing, type Saving, type Standing, standingOf, statusesOf } from './standing.ts'
import type { ValueFault } from './value-fault.ts'
import { writeDocuments } from './write-documents.ts'
import type { Values, WrittenDocument } from './written.ts'

/**
 * Creates or changes one version: draft first, and all of the draft where it is published (contract/rest.md 10).
 * Throws a RequestFault where it is refused.
 */
export async function saveVersion(
  saving: Saving,
  { uniqueness }: { readonly uniqueness: 'checked' | 'left to indexes' } = { uniqueness: 'checked' },
): Promise<void> {
  const { body, command, documentId, current, terms } = saving
  const { type } = command
  if (type.draftAndPublish) refuse(body.faults)
  const standing = standingOf(saving)
  const { checked, stored } = await becoming(saving, standing)
  const write = (values: Values): WrittenDocument => ({
    type,
    documentId,
    versions: [{ locale: command.locale, statuses: statusesOf(command), values }],
  })
  const [made = write(stored)] = await generateUids([write(stored)], terms)
  const values = made.versions[0]?.values ?? stored
  const faults = [
    ...body.faults,
    ...lacking(saving, standing, new Map([...values, ...checked])),
    ...(uniqueness === 'checked' ? await checkUnique(made, standing, terms) : []),
  ]
  refuse(inOrder(type, faults))
  await writeDocuments([made], terms, current)
}

function refuse(faults: readonly ValueFault[]): void {
  const refusal = toRefusal(faults)
  if (refusal) throw new RequestFault(refusal)
}

/** What a published version lacks; of a type without drafts, what a new one was not given. */
function lacking({ command, body }: Saving, { row }: Standing, values: Values): readonly ValueFault[] {
  const { type } = command
  if (type.draftAndPublish)
    return isPublishing(command) ? checkValues(type, values, { covers: () => true, plain: false }) : []
  const covers = (attribute: Attribute) => {
    if (attribute.kind === 'scalar' && attribute.generate) return false
    if (!body.names(attribute)) return row === undefined
    return body.faults.length === 0 && (attribute.kind === 'relation' || attribute.kind === 'media')
  }
  return checkValues(type, values, { covers, plain: true })
}

/** contract/rest.md 2: in schema order. */
function inOrder(type: ContentType, faults: readonly ValueFault[]): readonly ValueFault[] {
  const names = [...type.attributes.keys()]
  const place = ({ path }: ValueFault) => names.indexOf(String(path[0]))
  return faults.toSorted((a, b) => place(a) - place(b))
}
