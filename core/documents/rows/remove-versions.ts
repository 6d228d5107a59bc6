import { type ContentType, componentsOf } from '../../model/model.ts'
import type { Status } from '../../query/query.ts'
import type { Stored } from '../desired-state.ts'
import { type Changes, type CurrentRow, noChanges, numberIn } from '../sql/write-rows.ts'
import type { Planning } from './planning.ts'
import { isShared } from './planning.ts'
import { applyChanges } from './write-apply.ts'
import { type Current, type CurrentComponent, isTableLinked, tableLinkOf } from './write-load.ts'
import type { WriteOptions } from './write-options.ts'

export interface Removal {
  readonly type: ContentType
  readonly documentId: string
  readonly gone: readonly CurrentRow[]
  readonly current: Current
}

/**
 * Removes versions of a document with their own links and components (reference/documents.md#15-unpublishing-and-discarding, reference/documents.md#16-deleting). What all locales
 * share goes with the last row of its status. Links to the document are left to the caller.
 */
export async function removeVersions(removal: Removal, options: WriteOptions): Promise<void> {
  const changes = noChanges()
  const { type, gone } = removal
  const { name } = options.storage.table(type)
  removeParts(removal, changes, options)
  for (const row of gone) changes.removals.push({ table: name, key: new Map([['id', numberIn(row, 'id')]]) })
  await applyChanges(changes, options)
}

const statusOf = (row: CurrentRow): Status => (row.get('status') === 'draft' ? 'draft' : 'published')

function removeParts(removal: Removal, changes: Changes, options: WriteOptions): void {
  const { type, documentId, gone, current } = removal
  const [first] = gone
  if (!first) return
  const key = numberIn(first, options.storage.table(type).key)
  const left = current.rows(type, documentId).filter(row => !gone.includes(row))
  const statuses = new Set(gone.map(statusOf).filter(status => !left.some(row => statusOf(row) === status)))
  for (const attribute of type.attributes.values()) {
    if (isTableLinked(attribute) && isShared(type, attribute)) {
      const link = tableLinkOf(type, attribute.name, options)
      for (const status of statuses)
        changes.removals.push({
          table: link.table,
          key: new Map(link.owner.map(([column, own]) => [column, own === 'status' ? status : key])),
        })
    }
    if (componentsOf(attribute).length === 0) continue
    for (const each of current.components(type, attribute.name, key))
      if (isGone(each.row, gone, statuses)) removeComponent(each, { options, current, changes })
  }
}

/** A component's status is 'published' on types without drafts too. */
function isGone(component: CurrentRow, gone: readonly CurrentRow[], statuses: ReadonlySet<Status>): boolean {
  const status = statusOf(component)
  const locale = component.get('locale') ?? null
  if (locale === null) return statuses.has(status)
  return gone.some(row => statusOf(row) === status && row.get('locale') === locale)
}

/** The database takes the links of a component along, but knows nothing of what is nested in it. */
export function removeComponent(
  { component, row }: CurrentComponent,
  planning: Pick<Planning, 'options' | 'current' | 'changes'>,
): void {
  const table = planning.options.storage.componentTable(component)
  const id = numberIn(row, 'id')
  const status = row.get('status') ?? null
  planning.changes.removals.push({ table: table.name, key: componentKey(id, status) })
  for (const attribute of component.attributes.values()) {
    if (componentsOf(attribute).length === 0) continue
    for (const nested of planning.current.components(component, attribute.name, id))
      if (nested.row.get('status') === status) removeComponent(nested, planning)
  }
}

/** The key of a component's row. */
export const componentKey = (id: number, status: Stored): ReadonlyMap<string, Stored> =>
  new Map<string, Stored>([
    ['id', id],
    ['status', status],
  ])
