import type { Path } from '../faults/diagnostic.ts'
import { RequestFault } from '../faults/fault.ts'
import { type Attribute, type ContentType, componentsOf } from '../model/model.ts'
import type { DesiredDocument, Values } from './desired-state.ts'
import { generateUids } from './state/generate-uids.ts'
import { newValuesOf } from './state/new-values.ts'
import {
  claimedVersion,
  isPublishing,
  type Saving,
  type VersionContext,
  versionContextOf,
  versionOf,
} from './state/version-context.ts'
import { checkUnique } from './unique/check-unique.ts'
import { type CheckOptions, checkValues } from './values/check-values.ts'
import type { ValueFault } from './values/value-fault.ts'
import { toRefusal } from './values/value-fault.ts'
import { writeDocuments } from './write-documents.ts'

/**
 * Creates or changes one version: draft first, and all of the draft where it is published (reference/rest.md#10-drafts).
 * Throws a RequestFault where it is refused.
 */
export async function saveVersion(
  saving: Saving,
  { uniqueness }: { readonly uniqueness: 'checked' | 'left to indexes' } = { uniqueness: 'checked' },
): Promise<void> {
  const { body, command, current, options } = saving
  const { type } = command
  if (type.draftAndPublish && command.strict !== true) refuse(body.faults)
  const context = versionContextOf(saving)
  const { checked, stored } = await newValuesOf(saving, context)
  const [made, claimed] = await documentsOf(saving, stored)
  const values = made.versions[0]?.values ?? stored
  const faults = [
    ...body.faults,
    ...lacking(saving, context, new Map([...values, ...checked])),
    ...(uniqueness === 'checked' ? await checkUnique(claimed, context, options) : []),
  ]
  refuse(withoutHidden(inOrder(type, faults), saving))
  await writeDocuments([made], options, current)
}

/** The document that is written, and the one whose unique values are checked. */
async function documentsOf(
  { command, documentId, options }: Saving,
  stored: Values,
): Promise<readonly [DesiredDocument, DesiredDocument]> {
  const { type } = command
  const written = { type, documentId, versions: [versionOf(command, stored)] }
  const [made = written] = command.strict ? [] : await generateUids([written], options)
  const values = made.versions[0]?.values ?? stored
  return [made, { ...made, versions: [claimedVersion(command, values)] }]
}

function refuse(faults: readonly ValueFault[]): void {
  const refusal = toRefusal(faults)
  if (refusal) throw new RequestFault(refusal)
}

/** Faults of required values: all values of a version that is published; without drafts, the values that a new one was not given. */
function lacking({ command, body }: Saving, { row }: VersionContext, values: Values): readonly ValueFault[] {
  const { type, strict } = command
  if (type.draftAndPublish && strict !== true)
    return isPublishing(command) ? checkValues(type, values, WHOLE) : []
  const covers = (attribute: Attribute) => {
    if (attribute.kind === 'scalar' && attribute.generate)
      return strict !== undefined && body.faults.length === 0
    if (!body.names(attribute)) return row === undefined
    return body.faults.length === 0 && (attribute.kind === 'relation' || attribute.kind === 'media')
  }
  const left = checkValues(type, values, { covers, plain: true })
  const isWhole = isPublishing(command) && left.length === 0 && body.faults.length === 0
  return isWhole ? checkValues(type, values, WHOLE) : left
}

const WHOLE: CheckOptions = { covers: () => true, plain: false }

/**
 * Publishing checks stored values, too: faults do not repeat those that the caller may not read
 * (reference/safety.md#s1-oracles).
 */
function withoutHidden(
  faults: readonly ValueFault[],
  { command, body }: Pick<Saving, 'command' | 'body'>,
): readonly ValueFault[] {
  const { shown } = command.conditions
  if (shown === null) return faults
  return faults.map(each => {
    const [name, ...inner] = each.path
    const attribute = command.type.attributes.get(String(name))
    if (!attribute) return each
    const isSeen = (shown.has(attribute) || body.names(attribute)) && !leadsToPrivate(attribute, inner)
    return isSeen ? each : { kind: each.kind, path: each.path, message: each.message }
  })
}

/** True if the path leads to a private attribute of a component. */
function leadsToPrivate(attribute: Attribute, path: Path): boolean {
  const [name, ...inner] = path.filter(key => typeof key === 'string')
  return componentsOf(attribute).some(({ attributes }) => {
    const next = attributes.get(name ?? '')
    return next !== undefined && (next.private || leadsToPrivate(next, inner))
  })
}

/** reference/rest.md#2-errors: in schema order. */
function inOrder(type: ContentType, faults: readonly ValueFault[]): readonly ValueFault[] {
  if (faults.length === 0) return faults
  const names = [...type.attributes.keys()]
  const place = ({ path }: ValueFault) => names.indexOf(String(path[0]))
  return faults.toSorted((a, b) => place(a) - place(b))
}
