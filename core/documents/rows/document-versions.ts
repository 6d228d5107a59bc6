import type { ContentType } from '../../model/model.ts'
import type { Status } from '../../query/query.ts'
import type { DesiredDocument } from '../desired-state.ts'
import { type CurrentRow, newId, numberIn } from '../sql/write-rows.ts'
import type { Planning, Version } from './planning.ts'

/** All versions of a document: those that are written, then those that only take part in what locales share. */
export function versionsOf(document: DesiredDocument, planning: Planning): readonly Version[] {
  const { type, documentId } = document
  const rows = planning.current.rows(type, documentId)
  const key = planning.keys(type, documentId)
  const covered = document.versions.flatMap(({ locale, statuses, values, publishing, rows: given }) =>
    statuses.map(status => ({
      locale,
      status,
      values,
      publishing,
      written: given?.get(status),
      row: rows.find(row => isVersion(type, row, locale, status)),
    })),
  )
  const versions = covered.map((version, index): Version => {
    const first = index === 0 && rows.length === 0 ? key : undefined
    return {
      ...version,
      id: version.row
        ? numberIn(version.row, 'id')
        : (version.written?.id ?? first ?? newId(tableOf(type, planning))),
    }
  })
  const others = rows.filter(row => !covered.some(each => each.row === row))
  return [...versions, ...others.map(row => untouched(row))]
}

export const tableOf = (type: ContentType, { terms }: Planning): string => terms.storage.table(type).name

const statusOf = (row: CurrentRow): Status => (row.get('status') === 'draft' ? 'draft' : 'published')

const localeIn = (row: CurrentRow): string | null => {
  const locale = row.get('locale')
  return typeof locale === 'string' ? locale : null
}

const isVersion = (type: ContentType, row: CurrentRow, locale: string | null, status: Status): boolean =>
  (!type.localized || localeIn(row) === locale) && (!type.draftAndPublish || statusOf(row) === status)

const untouched = (row: CurrentRow): Version => ({
  id: numberIn(row, 'id'),
  status: statusOf(row),
  locale: localeIn(row),
  row,
  values: undefined,
})
