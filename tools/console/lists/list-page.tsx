import {
  ListContextProvider,
  ResourceContextProvider,
  type SortPayload,
  useListContext,
  useListController,
} from 'ra-core'
import { useEffect } from 'react'
import { Link, useParams } from 'react-router-dom'
import { type ListFilter, type ListRow, listColumns } from '../api/data-provider.ts'
import { asList, isJsonObject } from '../api/json.ts'
import { type AttributeInfo, findType, labelOf, type TypeInfo, toLabel } from '../api/schema.ts'
import { ActionButton } from '../shell/button.tsx'
import { useSchema } from '../shell/context.tsx'
import { directionOf, useWords } from '../shell/i18n.tsx'
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
  const words = useWords()
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
        <h1>{type.displayName}</h1>
        {type.actions.has('create') && (
          <Link className="button primary" to={createAddress(type, list.filterValues)}>
            {words('create')}
          </Link>
        )}
      </div>
      <FilterBar type={type} />
      <BulkActions type={type} />
      {list.error ? (
        <p className="fault" role="alert">
          {describeFault(list.error, words)}
        </p>
      ) : (
        <DocumentTable type={type} />
      )}
      <Pages />
    </ListContextProvider>
  )
}

/** Every content-type has an index of `createdAt`, and few of the attribute that names their documents. */
function defaultSort(type: TypeInfo): SortPayload {
  const isDated = type.attributes.some(({ name, readable }) => name === 'createdAt' && readable)
  return isDated
    ? { field: 'createdAt', order: 'DESC' }
    : { field: labelOf(type) ?? 'documentId', order: 'ASC' }
}

const createAddress = (type: TypeInfo, { locale }: ListFilter): string =>
  `/content/${type.pluralName}/create${locale ? `?locale=${encodeURIComponent(locale)}` : ''}`

function DocumentTable({ type }: { readonly type: TypeInfo }) {
  const words = useWords()
  const { data, isPending, filterValues, page, setFilters, setPage } = useListContext<ListRow>()
  if (isPending) return <p aria-busy="true">{words('loading')}</p>
  if (!data || data.length === 0) {
    const narrowed = Object.keys(filterValues).length > 0 || page > 1
    const { locale } = filterValues as ListFilter
    return (
      <div className="empty">
        <EmptyPage
          text={words(
            narrowed ? 'nothingFound' : type.actions.has('create') ? 'nothingYet' : 'nothingYetForbidden',
          )}
        />
        {page > 1 && (
          <button type="button" onClick={() => setPage(1)}>
            {words('firstPage')}
          </button>
        )}
        {narrowed && (
          <button type="button" onClick={() => setFilters(locale ? { locale } : {}, undefined, false)}>
            {words('clearFilters')}
          </button>
        )}
        {!narrowed && type.actions.has('create') && (
          <Link className="button" to={createAddress(type, filterValues)}>
            {words('createFirst', { type: type.displayName })}
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
  const words = useWords()
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
            aria-label={words('selectAll')}
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
        {type.draftAndPublish && <th>{words('status')}</th>}
      </tr>
    </thead>
  )
}

const ARROWS: Readonly<Record<string, string>> = { ascending: '↑', descending: '↓' }

function TableRow({ type, row }: { readonly type: TypeInfo; readonly row: ListRow }) {
  const words = useWords()
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
          aria-label={words('select', { title })}
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
        <td>{row.state && <span className={`state ${row.state}`}>{words(row.state)}</span>}</td>
      )}
    </tr>
  )
}

/** Documents that the user may open are links. */
function LinkedCell({ column, row }: { readonly column: AttributeInfo; readonly row: ListRow }) {
  const value = row.values[column.name] ?? null
  const target = findType(useSchema(), column.type === 'relation' ? column.target : null)
  const links = (Array.isArray(value) ? asList(value) : [value]).filter(isJsonObject)
  if (target?.kind !== 'collectionType' || !target.actions.has('findOne') || links.length === 0)
    return <CellValue attribute={column} value={value} fallback="" />
  return (
    <>
      {links.slice(0, LINKS).map((link, index) => (
        <span key={String(link.documentId)}>
          {index > 0 && ', '}
          <Link to={`/content/${target.pluralName}/${encodeURIComponent(String(link.documentId))}`}>
            <bdi>{describeValue(link)}</bdi>
          </Link>
        </span>
      ))}
      {links.length > LINKS && ` +${links.length - LINKS}`}
    </>
  )
}

/** More are counted only. */
const LINKS = 5

const SIZES = [10, 25, 50, 99]

function Pages() {
  const words = useWords()
  const { page, perPage, setPage, setPerPage, hasNextPage, hasPreviousPage } = useListContext<ListRow>()
  return (
    <nav className="pages" aria-label={words('pages')}>
      <ActionButton off={!hasPreviousPage} onClick={() => setPage(page - 1)}>
        {words('previous')}
      </ActionButton>
      <span>{words('page', { page })}</span>
      <ActionButton off={!hasNextPage} onClick={() => setPage(page + 1)}>
        {words('next')}
      </ActionButton>
      <label>
        {words('perPage')}
        <select value={perPage} onChange={event => setPerPage(Number(event.target.value))}>
          {[...new Set([...SIZES, perPage])].map(size => (
            <option key={size}>{size}</option>
          ))}
        </select>
      </label>
    </nav>
  )
}
