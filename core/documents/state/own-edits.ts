import type { RelationAttribute } from '../../model/model.ts'
import type { DesiredValue, LinkTarget } from '../desired-state.ts'
import { type ChangeTerms, operationOf } from '../links/link-change.ts'
import { hasOthers } from '../links/list-bounds.ts'
import { ownRows } from '../links/own-list-sql.ts'
import { placeLinks } from '../links/place-links.ts'
import { tableLinkOf } from '../rows/write-load.ts'
import { type CurrentRow, numberIn } from '../sql/write-rows.ts'
import { viewOf, WHOLE_DRAFT } from './list-view.ts'
import { isLocale, type Saving, staysInPlace, type VersionContext } from './version-context.ts'

type Edits = ReadonlyMap<string, DesiredValue>

/** What a write does to the lists of a version that is there; their links are not read. */
export async function ownEdits(saving: Saving, { row }: VersionContext, terms: ChangeTerms): Promise<Edits> {
  const { command, body } = saving
  if (!row) return new Map()
  const edits = [...command.type.attributes.values()]
    .filter(each => staysInPlace(each, command, body))
    .map(async attribute => {
      const value = await editOf(attribute, saving, row, terms)
      return [attribute.name, value] as const
    })
  return new Map(await Promise.all(edits))
}

async function editOf(
  attribute: RelationAttribute,
  saving: Saving,
  row: CurrentRow,
  terms: ChangeTerms,
): Promise<DesiredValue> {
  const given = saving.body.values.get(attribute.name)
  const change = given?.kind === 'links' ? given.change : undefined
  const operation = change ? operationOf(attribute, change, terms) : NOTHING
  if (operation.kind === 'set') throw new TypeError(`${attribute.name} is no list that stays in place`)
  const link = tableLinkOf(saving.command.type, attribute.name, saving.terms)
  const ids = rowIds(saving)
  const view = await viewOf(saving, attribute, { body: saving.body, found: terms.found })
  const seen = view.status === 'draft' ? numberIn(row, 'id') : ids.published
  const list = ownRows({ attribute }, link, { row: seen ?? NO_ROW, rows: ids.all, view })
  const connect = await placeLinks(operation, list, saving.terms)
  const { disconnect } = operation
  const whole = ownRows({ attribute }, link, { row: numberIn(row, 'id'), rows: ids.all, view: WHOLE_DRAFT })
  const isFilled =
    connect.length > 0 ||
    (attribute.required && (await hasOthers(whole, goneWhole(disconnect, link.targetStatus), saving.terms)))
  return { kind: 'links', targets: isFilled ? SOMETHING : [], edit: { disconnect, connect } }
}

const NOTHING = { kind: 'edit', disconnect: [], connect: [], neighbours: new Set<number>() } as const

/** No row has it. */
const NO_ROW = 0

const SOMETHING: readonly LinkTarget[] = [{ documentId: '', locale: null, status: null }]

/** Documents to which nothing is left. */
function goneWhole(disconnect: readonly LinkTarget[], named: string | null): readonly number[] {
  const counts = new Map<number, number>()
  for (const { key } of disconnect) if (key !== undefined) counts.set(key, (counts.get(key) ?? 0) + 1)
  return [...counts].flatMap(([key, count]) => (count >= (named === null ? 1 : 2) ? [key] : []))
}

function rowIds({ command, documentId, current }: Saving) {
  const rows = current.rows(command.type, documentId).filter(row => isLocale(command, row))
  const published = rows.find(row => row.get('status') === 'published')
  return {
    all: rows.map(row => numberIn(row, 'id')),
    published: published && numberIn(published, 'id'),
  }
}
