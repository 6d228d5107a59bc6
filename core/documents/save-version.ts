import { RequestFault } from '../faults/fault.ts'
import type { Attribute, ContentType, RelationAttribute } from '../model/model.ts'
import type { CreateCommand, PermittedCommand, UpdateCommand } from '../query/command.ts'
import type { Status } from '../query/query.ts'
import { checkValues } from './check-values.ts'
import { findTaken } from './find-taken.ts'
import { generateUids } from './generate-uids.ts'
import { defaultsOf, type GivenBody } from './given-body.ts'
import { readInverseList } from './inverse-list.ts'
import { findTargets, type Visible } from './link-targets.ts'
import { mergeValues } from './merge-values.ts'
import { toRefusal } from './refusal.ts'
import type { ValueFault } from './value-fault.ts'
import { componentsIn, itemOf, type VersionPlace, valuesOf } from './version-values.ts'
import { writeDocuments } from './write-documents.ts'
import type { Current } from './write-load.ts'
import { type CurrentRow, numberIn } from './write-rows.ts'
import type { WriteTerms } from './write-terms.ts'
import { isShared } from './write-versions.ts'
import type { Values, WrittenDocument, WrittenValue } from './written.ts'

export type SaveCommand = PermittedCommand<CreateCommand> | PermittedCommand<UpdateCommand>

export interface Saving {
  readonly command: SaveCommand
  readonly documentId: string
  readonly body: GivenBody
  readonly current: Current
  readonly terms: WriteTerms & { readonly visible: Visible }
}

/** The version that a command is about, as it is: null where it is still to be made. */
interface Standing {
  readonly row: CurrentRow | undefined
  /** Another locale's, which has what all of them share. */
  readonly sibling: CurrentRow | undefined
  readonly place: VersionPlace
}

/**
 * Creates or changes one version: draft first, and all of the draft where it is published (contract/rest.md 10).
 * Throws a RequestFault where it is refused.
 */
export async function saveVersion(saving: Saving): Promise<void> {
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
    ...(await taken(made, standing, terms)),
  ]
  refuse(inOrder(type, faults))
  await writeDocuments([made], terms, current)
}

function refuse(faults: readonly ValueFault[]): void {
  const refusal = toRefusal(faults)
  if (refusal) throw new RequestFault(refusal)
}

const statusesOf = ({ type, status }: SaveCommand): readonly Status[] => {
  if (!type.draftAndPublish) return ['published']
  return status === 'draft' ? ['draft'] : ['draft', 'published']
}

const isPublishing = ({ type, status }: SaveCommand): boolean =>
  type.draftAndPublish && status === 'published'

/** The attributes whose values have to be known before the write. */
export const attributesToLoad =
  (command: SaveCommand, body: GivenBody) =>
  (rows: readonly CurrentRow[]): readonly Attribute[] => {
    const isThere = rows.some(row => isLocale(command, row))
    return [...command.type.attributes.values()].filter(
      each => isPublishing(command) || body.names(each) || (!isThere && isShared(command.type, each)),
    )
  }

const isLocale = ({ type, locale }: SaveCommand, row: CurrentRow): boolean =>
  !type.localized || row.get('locale') === locale

function standingOf({ command, documentId, current, terms }: Saving): Standing {
  const { type, locale } = command
  const status: Status = type.draftAndPublish ? 'draft' : 'published'
  const rows = current
    .rows(type, documentId)
    .filter(row => !type.draftAndPublish || row.get('status') === 'draft')
  return {
    row: rows.find(row => isLocale(command, row)),
    sibling: rows.find(row => !isLocale(command, row)),
    place: { root: type, status, locale, current, terms },
  }
}

interface Becoming {
  /** With passwords as they were given. */
  readonly checked: Values
  readonly stored: Values
}

async function becoming(saving: Saving, standing: Standing): Promise<Becoming> {
  const { command, body, terms } = saving
  const { type, locale } = command
  const before = await valuesBefore(saving, standing)
  const source = { type, locale }
  // What is refused anyway needs no search for what it links to.
  const given = body.faults.length > 0 ? withoutLinks(body.values) : body.values
  const found = await findTargets(type, given, source, terms)
  const row = standing.row ?? standing.sibling
  const merge = (values: Values) =>
    mergeValues(type, before, values, {
      source,
      found,
      componentBy: (attribute, { component, id }) => {
        const there = row ? componentsIn(type, row, attribute, standing.place) : []
        const same = there.filter(each => each.component === component && each.row.get('id') === id)
        const best = same.find(each => each.row.get('status') === standing.place.status) ?? same[0]
        return best && itemOf(best, standing.place)
      },
    })
  return { checked: merge(given), stored: body.faults.length > 0 ? given : merge(body.hashed) }
}

const withoutLinks = (values: Values): Values =>
  new Map([...values].filter(([, { kind }]) => kind === 'scalar'))

async function valuesBefore(saving: Saving, { row, sibling, place }: Standing): Promise<Values> {
  const { command, body } = saving
  const { type } = command
  const loaded = attributesToLoad(command, body)(row ? [row] : [])
  const inverse = await inverseValues(saving, row ?? sibling)
  if (row) return new Map([...valuesOf(type, row, loaded, place), ...inverse])
  const shared = sibling
    ? valuesOf(
        type,
        sibling,
        loaded.filter(each => isShared(type, each)),
        place,
      )
    : []
  const defaults = defaultsOf(type, each => !sibling || !isShared(type, each))
  return new Map([...defaults, ...shared, ...inverse])
}

/** Lists that the other side stores: those that the body changes in part, and those whose drafts are to be published. */
async function inverseValues(
  { command, body, terms }: Saving,
  row: CurrentRow | undefined,
): Promise<readonly [string, WrittenValue][]> {
  if (!row) return []
  const { type, locale } = command
  const key = numberIn(row, terms.storage.table(type).key)
  const values: [string, WrittenValue][] = []
  for (const attribute of type.attributes.values()) {
    if (!isInverse(attribute)) continue
    const value = body.values.get(attribute.name)
    const inPart = value?.kind === 'links' && value.change?.kind === 'change'
    const published = isPublishing(command) && value === undefined
    if (!inPart && !published) continue
    values.push([
      attribute.name,
      {
        kind: 'links',
        targets: await readInverseList(attribute, { type, key, locale, status: 'draft' }, terms),
      },
    ])
  }
  return values
}

export const isInverse = (attribute: Attribute): attribute is RelationAttribute =>
  attribute.kind === 'relation' && attribute.side === 'inverse'

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

/** documents.md 5: every row that is written, and of what all locales share their published rows too. */
async function taken(
  document: WrittenDocument,
  { place }: Standing,
  terms: WriteTerms,
): Promise<readonly ValueFault[]> {
  const { type, documentId } = document
  const published = place.current
    .rows(type, documentId)
    .filter(row => !type.draftAndPublish || row.get('status') === 'published')
  const versions = document.versions.flatMap(version => {
    if (!version.statuses.includes('published')) return []
    const mine = published.find(row => !type.localized || row.get('locale') === version.locale)
    const own = changedUnique(type, version.values, mine, terms)
    const shared = new Map([...own].filter(([name]) => isShared(type, type.attributes.get(name))))
    const others = published.filter(row => row !== mine)
    return [
      { ...version, values: own },
      ...others.map(row => ({ ...version, locale: String(row.get('locale')), values: shared })),
    ]
  })
  const found = await findTaken([{ type, documentId, versions }], terms)
  const names = new Map(found.map(each => [each.attribute.name, each]))
  return [...names].map(([name, { value }]) => ({
    kind: 'rule',
    path: [name],
    message: 'This attribute must be unique',
    value,
  }))
}

const changedUnique = (
  type: ContentType,
  values: Values,
  row: CurrentRow | undefined,
  { storage }: WriteTerms,
): Values =>
  new Map(
    [...values].filter(([name, value]) => {
      const attribute = type.attributes.get(name)
      if (attribute?.kind !== 'scalar' || !attribute.unique || value.kind !== 'scalar') return false
      return row === undefined || row.get(storage.column(type, name)) !== value.value
    }),
  )

/** contract/rest.md 2: in schema order. */
function inOrder(type: ContentType, faults: readonly ValueFault[]): readonly ValueFault[] {
  const names = [...type.attributes.keys()]
  const place = ({ path }: ValueFault) => names.indexOf(String(path[0]))
  return faults.toSorted((a, b) => place(a) - place(b))
}
