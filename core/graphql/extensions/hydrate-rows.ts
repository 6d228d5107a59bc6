import type { Caller } from '../../access/caller.ts'
import type { Component, Holder } from '../../model/model.ts'
import type {
  ComponentPopulate,
  LinkPopulate,
  Part,
  Populate,
  Selection,
  ZonePopulate,
} from '../../query/query.ts'
import type { AnsweredRow } from '../resolve/resolvers.ts'
import type { BatchLoader } from './load-returned.ts'
import { isRow, linkedDocuments } from './returned.ts'

/** Documents that code returned, and the selection of their fields. */
export interface HydrateTerms {
  readonly holder: Holder
  readonly documents: readonly AnsweredRow[]
  readonly selection: Selection
  readonly caller: Caller
  /** The loader of populated values of stored documents, one for each `place` of the operation. */
  readonly loaderFor: (place: string, adopting: HydrateTerms) => BatchLoader<AnsweredRow, AnsweredRow | null>
  readonly place: string
}

/** Converts documents of code to rows for generated resolvers: own values plus populated ones. */
export async function hydrateRows(adopting: HydrateTerms): Promise<readonly AnsweredRow[]> {
  const { holder, documents, selection } = adopting
  if (selection.populate.length === 0) return documents.map(document => ownValues(document, holder))
  const computed = documents.filter(document => !isStored(document, holder))
  const adopted = await hydrateComputed({ ...adopting, documents: computed })
  return Promise.all(
    documents.map(document =>
      isStored(document, holder) ? hydrateStored(document, adopting) : (adopted.get(document) ?? document),
    ),
  )
}

/** PostgreSQL cannot store NUL, so no document has such an id. */
const isStored = ({ documentId }: AnsweredRow, { holder }: Holder): boolean =>
  holder === 'content-type' && typeof documentId === 'string' && !documentId.includes('\0')

/** The document's scalar values. Populated values are read from the database, or set under their response key. */
function ownValues(document: AnsweredRow, { attributes }: Holder): AnsweredRow {
  const own = Object.entries(document).filter(([key]) => (attributes.get(key)?.kind ?? 'scalar') === 'scalar')
  return { ...Object.fromEntries(own), documentId: document.documentId ?? document.id }
}

async function hydrateStored(document: AnsweredRow, adopting: HydrateTerms): Promise<AnsweredRow> {
  const { holder, selection, loaderFor: reading, place } = adopting
  const read = await reading(place, adopting).load(document)
  const populated = selection.populate.flatMap(({ as, ...populate }) => {
    const value = read ? read[as] : isMany(populate) ? [] : null
    return value === undefined ? [] : [[as, value] as const]
  })
  return { ...ownValues(document, holder), ...Object.fromEntries(populated) }
}

const isMany = ({ attribute }: Pick<Populate, 'attribute'>): boolean => {
  if (attribute.kind === 'zone' || attribute.kind === 'morph') return true
  return attribute.kind === 'component' ? attribute.repeatable : attribute.many
}

/** Documents that exist only in code contain their relations and components themselves. */
async function hydrateComputed(adopting: HydrateTerms): Promise<ReadonlyMap<AnsweredRow, AnsweredRow>> {
  const { documents, selection, holder } = adopting
  if (documents.length === 0) return new Map()
  const columns = await Promise.all(selection.populate.map(populate => hydrateColumn(populate, adopting)))
  return new Map(
    documents.map((document, index) => {
      const values = columns.flatMap(({ as, values: all }) =>
        all ? [[as, all[index] ?? null] as const] : [],
      )
      return [document, { ...ownValues(document, holder), ...Object.fromEntries(values) }]
    }),
  )
}

interface Column {
  readonly as: string
  /** One value per document; null: the caller may not follow the link. */
  readonly values: readonly unknown[] | null
}

async function hydrateColumn(populate: Populate, adopting: HydrateTerms): Promise<Column> {
  const { as } = populate
  switch (populate.kind) {
    case 'link':
      return {
        as,
        values: mayFollow(populate, adopting.caller) ? await hydrateLink(populate, adopting) : null,
      }
    case 'component':
      return { as, values: await hydrateComponents(populate, adopting) }
    case 'zone':
      return { as, values: await hydrateZones(populate, adopting) }
    // Only stored files are used in documents.
    case 'morph':
      return { as, values: adopting.documents.map(() => []) }
  }
}

/** Media need no permission; other links need `find` on their target (reference/graphql.md#8-permissions). */
const mayFollow = ({ attribute, bypassFind: opened }: LinkPopulate, { grants }: Caller): boolean =>
  attribute.kind === 'media' || opened !== undefined || grants.readAccess(attribute.target, 'find') !== null

async function hydrateLink(populate: LinkPopulate, adopting: HydrateTerms): Promise<readonly unknown[]> {
  const { attribute, as, selection } = populate
  const shapes = adopting.documents.map(document => linkedDocuments(document[attribute.name], attribute))
  const rows = await hydrateRows({
    ...adopting,
    holder: attribute.target,
    documents: shapes.flat(),
    selection,
    place: `${adopting.place} ${as}`,
  })
  let at = 0
  return shapes.map(documents => {
    const own = rows.slice(at, at + documents.length)
    at += documents.length
    return attribute.many ? own : (own[0] ?? null)
  })
}

function hydrateComponents(populate: ComponentPopulate, adopting: HydrateTerms): Promise<readonly unknown[]> {
  const { attribute, selection } = populate
  return Promise.all(
    adopting.documents.map(async document => {
      const given = listOf(document[attribute.name])
      const rows = await hydratePart(given, { holder: attribute.component, selection }, adopting)
      return attribute.repeatable ? rows : (rows[0] ?? null)
    }),
  )
}

const hydrateZones = (
  { attribute, parts }: ZonePopulate,
  adopting: HydrateTerms,
): Promise<readonly unknown[]> =>
  Promise.all(
    adopting.documents.map(document =>
      Promise.all(
        listOf(document[attribute.name]).map(async entry => {
          const part = parts.find(({ holder }) => holder.uid === entry.__component)
          const [row = entry] = part ? await hydratePart([entry], part, adopting) : [entry]
          return { __component: entry.__component, ...row }
        }),
      ),
    ),
  )

const hydratePart = (
  documents: readonly AnsweredRow[],
  { holder, selection }: Part<Component>,
  adopting: HydrateTerms,
): Promise<readonly AnsweredRow[]> =>
  hydrateRows({
    ...adopting,
    holder,
    documents,
    selection,
    place: `${adopting.place} ${holder.uid}`,
  })

const listOf = (value: unknown): readonly AnsweredRow[] =>
  (Array.isArray(value) ? value : [value]).filter(isRow)
