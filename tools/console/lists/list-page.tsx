import {
  ListContextProvider,
  ResourceContextProvider,
  type SortPayload,
  useListContext,
  useListController,
} from 'ra-core'
import { useEffect, useRef } from 'react'
import { Link, useParams } from 'react-router-dom'
import { type ListFilter, type ListRow, listColumns } from '../api/data-provider.ts'
import { objectsOf } from '../api/json.ts'
import { type AttributeInfo, findType, labelOf, type TypeInfo, toLabel } from '../api/schema.ts'
import { ActionButton } from '../shell/button.tsx'
import { useSchema } from '../shell/context.tsx'
import { directionOf, useTranslate } from '../shell/i18n.tsx'
import { describeFault } from '../shell/notices.tsx'
import { EmptyPage, MissingPage } from '../shell/pages.tsx'
import { BulkActions } from './bulk-actions.tsx'
import { CellValue, describeValue } from './cell-value.tsx'
import { FilterBar } from './filter-bar.tsx'

export function ListScreen() {
  const { plural = '' } = useParams()
  const type = useSchema().types.find(
    ({ pluralName, kind }) => pluralName === plural && kind === 'collectionType',
  )
  if (!type) return <MissingPage />
  return (
    <ResourceContextProvider value={type.pluralName} key={type.uid}>
      <DocumentList type={type} />
    </ResourceContextProvider>
  )
}

function DocumentList({ type }: { readonly type: TypeInfo }) {
  const translate = useTranslate()
  const heading = useRef<HTMLHeadingElement>(null)
  const list = useListController<ListRow>({
    resource: type.pluralName,
    perPage: 25,
    sort: defaultSort(type),
    storeKey: false,
    debounce: 300,
    disableAuthentication: true,
    queryOptions: { retry: false },
  })
  useEffect(() => {
    document.title = type.displayName
  }, [type])
  return (
    <ListContextProvider value={list}>
      <div className="title-row">
        <h1 ref={heading} tabIndex={-1}>
          {type.displayName}
        </h1>
        {type.actions.has('create') && (
          <Link className="button primary" to={createAddress(type, list.filterValues)}>
            {translate('create')}
          </Link>
        )}
      </div>
      <FilterBar type={type} />
      <BulkActions type={type} heading={heading} />
      {list.error ? (
        <p className="fault" role="alert">
          {describeFault(list.error, translate)}
        </p>
      ) : (
        <DocumentTable type={type} />
      )}
      <Pages />
    </ListContextProvider>
  )
}

/** By `createdAt`, which is always indexed; the label attribute rarely is. */
function defaultSort(type: TypeInfo): SortPayload {
  const isDated = type.attributes.some(({ name, readable }) => name === 'createdAt' && readable)
  return isDated
    ? { field: 'createdAt', order: 'DESC' }
    : { field: labelOf(type) ?? 'documentId', order: 'ASC' }
}

const createAddress = (type: TypeInfo, { locale }: ListFilter): string =>
  `/content/${type.pluralName}/create${locale ? `?locale=${encodeURIComponent(locale)}` : ''}`

function DocumentTable({ type }: { readonly type: TypeInfo }) {
  const translate = useTranslate()
  const { data, isPending, filterValues, page, setFilters, setPage } = useListContext<ListRow>()
  if (isPending) return <p aria-busy="true">{translate('loading')}</p>
  if (!data || data.length === 0) {
    const isFiltered = Object.keys(filterValues).length > 0 || page > 1
    const { locale } = filterValues as ListFilter
    return (
      <div className="empty">
        <EmptyPage
          text={translate(
            isFiltered ? 'nothingFound' : type.actions.has('create') ? 'nothingYet' : 'nothingYetForbidden',
          )}
        />
        {page > 1 && (
          <button type="button" onClick={() => setPage(1)}>
            {translate('firstPage')}
          </button>
        )}
        {isFiltered && (
          <button type="button" onClick={() => setFilters(locale ? { locale } : {}, undefined, false)}>
            {translate('clearFilters')}
          </button>
        )}
        {!isFiltered && type.actions.has('create') && (
          <Link className="button" to={createAddress(type, filterValues)}>
            {translate('createFirst', { type: type.displayName })}
          </Link>
        )}
      </div>
    )
  }
  return (
    <div className="table-frame">
      <table>
        <TableHead type={type} rows={data} />
        <tbody>
          {data.map(row => (
            <TableRow key={row.id} type={type} row={row} />
          ))}
        </tbody>
      </table>
    </div>
  )
}

function TableHead({ type, rows }: { readonly type: TypeInfo; readonly rows: readonly ListRow[] }) {
  const translate = useTranslate()
  const { sort, setSort, selectedIds, onSelect } = useListContext<ListRow>()
  const all = rows.every(({ id }) => selectedIds.includes(id))
  const orderOf = (name: string) => {
    if (sort.field !== name) return undefined
    return sort.order === 'ASC' ? 'ascending' : 'descending'
  }
  return (
    <thead>
      <tr>
        <th>
          <input
            type="checkbox"
            aria-label={translate('selectAll')}
            checked={all}
            onChange={() => onSelect(all ? [] : rows.map(({ id }) => id))}
          />
        </th>
        {listColumns(type).map(({ name, type: kind }) => (
          <th key={name} aria-sort={orderOf(name)}>
            {kind === 'relation' || kind === 'media' || kind === 'json' ? (
              toLabel(name)
            ) : (
              <button
                type="button"
                className="quiet"
                onClick={() =>
                  setSort({ field: name, order: orderOf(name) === 'ascending' ? 'DESC' : 'ASC' })
                }
              >
                {toLabel(name)} <span aria-hidden="true">{ARROWS[orderOf(name) ?? ''] ?? ''}</span>
              </button>
            )}
          </th>
        ))}
        {type.draftAndPublish && <th>{translate('status')}</th>}
      </tr>
    </thead>
  )
}

const ARROWS: Readonly<Record<string, string>> = { ascending: '↑', descending: '↓' }

function TableRow({ type, row }: { readonly type: TypeInfo; readonly row: ListRow }) {
  const translate = useTranslate()
  const { selectedIds, onToggleItem, filterValues } = useListContext<ListRow>()
  const { locale } = filterValues as ListFilter
  const columns = listColumns(type)
  const title = String(row.values[columns[0]?.name ?? ''] ?? row.id)
  const address = `/content/${type.pluralName}/${row.id}${locale ? `?locale=${encodeURIComponent(locale)}` : ''}`
  return (
    <tr>
      <td>
        <input
          type="checkbox"
          aria-label={translate('select', { title })}
          checked={selectedIds.includes(row.id)}
          onChange={() => onToggleItem(row.id)}
        />
      </td>
      {columns.map((column, index) => (
        <td key={column.name} dir={directionOf(locale)}>
          {index === 0 ? (
            <Link to={address}>
              <CellValue attribute={column} value={row.values[column.name] ?? null} fallback={row.id} />
            </Link>
          ) : (
            <LinkedCell column={column} row={row} />
          )}
        </td>
      ))}
      {type.draftAndPublish && (
        <td>{row.state && <span className={`state ${row.state}`}>{translate(row.state)}</span>}</td>
      )}
    </tr>
  )
}

/** The cell as a link if the user may open the document. */
function LinkedCell({ column, row }: { readonly column: AttributeInfo; readonly row: ListRow }) {
  const value = row.values[column.name] ?? null
  const target = findType(useSchema(), column.type === 'relation' ? column.target : null)
  const links = objectsOf(value)
  if (target?.kind !== 'collectionType' || !target.actions.has('findOne') || links.length === 0)
    return <CellValue attribute={column} value={value} fallback="" />
  return (
    <>
      {links.slice(0, MAX_LINKS).map((link, index) => (
        <span key={String(link.documentId)}>
          {index > 0 && ', '}
          <Link to={`/content/${target.pluralName}/${encodeURIComponent(String(link.documentId))}`}>
            <bdi>{describeValue(link)}</bdi>
          </Link>
        </span>
      ))}
      {links.length > MAX_LINKS && ` +${links.length - MAX_LINKS}`}
    </>
  )
}

/** Links of one cell; further ones are shown as a number. */
const MAX_LINKS = 5

const SIZES = [10, 25, 50, 99]

function Pages() {
  const translate = useTranslate()
  const { page, perPage, setPage, setPerPage, hasNextPage, hasPreviousPage } = useListContext<ListRow>()
  return (
    <nav className="pages" aria-label={translate('pages')}>
      <ActionButton inactive={!hasPreviousPage} onClick={() => setPage(page - 1)}>
        {translate('previous')}
      </ActionButton>
      <span>{translate('page', { page })}</span>
      <ActionButton inactive={!hasNextPage} onClick={() => setPage(page + 1)}>
        {translate('next')}
      </ActionButton>
      <label>
        {translate('perPage')}
        <select value={perPage} onChange={event => setPerPage(Number(event.target.value))}>
          {[...new Set([...SIZES, perPage])].map(size => (
            <option key={size}>{size}</option>
          ))}
        </select>
      </label>
    </nav>
  )
}
