import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from 'react-router-dom'
import { callApi } from '../api/client.ts'
import { versionParams } from '../api/data-provider.ts'
import { asList, isJsonObject, type JsonRecord } from '../api/json.ts'
import { type ApiSchema, findType, labelOf, type TypeInfo, toLabel } from '../api/schema.ts'
import { describeValue } from '../lists/cell-value.tsx'
import { useTyping } from '../lists/filter-bar.tsx'
import { useSchema } from '../shell/context.tsx'
import { useWords } from '../shell/i18n.tsx'
import { describeFault } from '../shell/notices.tsx'
import type { InputProps } from './field-props.ts'
import { useForm } from './form-context.tsx'
import { OrderedList } from './ordered-list.tsx'

/** Linked documents in their order. The form writes the difference, never the whole list (docs/rest.md, "Relations"). */
export function RelationInput(props: InputProps) {
  const words = useWords()
  const schema = useSchema()
  const { attribute, value, readOnly, onChange } = props
  const target = findType(schema, attribute.target)
  const many = attribute.relation?.endsWith('ToMany') ?? Array.isArray(value)
  const links = (Array.isArray(value) ? asList(value) : [value]).filter(isJsonObject)
  if (!target) return <p className="help">{words('unreadableTarget')}</p>
  const apply = (next: readonly JsonRecord[]) => onChange(many ? next : (next.at(-1) ?? null))
  const chosen = new Set(links.map(({ documentId }) => documentId))
  return (
    <>
      <OrderedList
        items={links}
        keyOf={({ documentId }) => String(documentId)}
        labelOf={describeValue}
        readOnly={readOnly}
        onMove={many && links.length > 1 ? apply : null}
        onRemove={index => apply(links.toSpliced(index, 1))}
      >
        {link =>
          target.kind === 'collectionType' && target !== schema.users ? (
            <Link dir="auto" to={`/content/${target.pluralName}/${link.documentId}`}>
              {describeValue(link)}
            </Link>
          ) : (
            <bdi>{describeValue(link)}</bdi>
          )
        }
      </OrderedList>
      {links.length === 0 && <p className="help">{words('noLinks')}</p>}
      {!readOnly && (
        <LinkPicker
          target={target}
          name={toLabel(attribute.name)}
          chosen={chosen}
          onChoose={link => apply(many ? [...links, link] : [link])}
        />
      )}
    </>
  )
}

interface LinkPickerProps {
  readonly target: TypeInfo
  readonly name: string
  readonly chosen: ReadonlySet<unknown>
  readonly onChoose: (link: JsonRecord) => void
}

const FOUND = 20

interface TargetSearch {
  readonly schema: ApiSchema
  readonly target: TypeInfo
  readonly search: string
  readonly locale: string | null
}

/** Only the text that is shown is searched: one attribute may have an index for that, and all of them seldom do. */
async function searchTargets({ schema, target, search, locale }: TargetSearch, signal: AbortSignal) {
  const label = target.attributes.find(({ name }) => name === labelOf(target))
  const named = { fields: [label?.name ?? 'documentId'], sort: label?.name }
  const found =
    search === '' || !label || label.type === 'enumeration'
      ? { _q: search || undefined }
      : { filters: { [label.name]: { $containsi: search } } }
  // Users have a list of their own kind (docs/identity.md, "Users").
  const query =
    target === schema.users
      ? { ...named, ...found, limit: FOUND }
      : {
          ...versionParams(schema, target, locale === null ? {} : { locale }),
          ...named,
          ...found,
          pagination: { limit: FOUND, withCount: false },
        }
  const { body } = await callApi('GET', target.path, { query, signal })
  const list = isJsonObject(body) ? (body.data ?? null) : body
  return asList(list).filter(isJsonObject)
}

function LinkPicker({ target, name, chosen, onChoose }: LinkPickerProps) {
  const words = useWords()
  const schema = useSchema()
  const { locale } = useForm()
  const [open, setOpen] = useState(false)
  const [search, setSearch] = useState('')
  const [typed, setTyped] = useTyping(search, setSearch)
  const found = useQuery({
    queryKey: ['pick', target.uid, search, locale],
    enabled: open,
    retry: false,
    queryFn: ({ signal }) => searchTargets({ schema, target, search, locale }, signal),
  })
  const offered = (found.data ?? []).filter(({ documentId }) => !chosen.has(documentId))
  if (!open)
    return (
      <button type="button" onClick={() => setOpen(true)}>
        {words('link')} {name}
      </button>
    )
  return (
    <div className="picker">
      <label>
        {words('search')}
        {/* biome-ignore lint/a11y/noAutofocus: the user just opened this search. */}
        <input type="search" autoFocus value={typed} onChange={event => setTyped(event.target.value)} />
      </label>
      {found.error && <p className="fault">{describeFault(found.error, words)}</p>}
      <ul aria-busy={found.isFetching}>
        {offered.map(link => (
          <li key={String(link.documentId)}>
            <button type="button" dir="auto" onClick={() => onChoose(link)}>
              {describeValue(link)}
            </button>
          </li>
        ))}
      </ul>
      {found.data && offered.length === 0 && (
        <NothingToLink target={target} searched={search !== ''} all={found.data.length > 0} />
      )}
      <button type="button" onClick={() => setOpen(false)}>
        {words('close')}
      </button>
    </div>
  )
}

interface NothingToLinkProps {
  readonly target: TypeInfo
  readonly searched: boolean
  /** All that was found is linked. */
  readonly all: boolean
}

/** Why nothing is offered, and what to do next. */
function NothingToLink({ target, searched, all }: NothingToLinkProps) {
  const words = useWords()
  if (all || searched) return <p className="help">{words(all ? 'allLinked' : 'nothingFound')}</p>
  if (target.kind !== 'collectionType' || !target.actions.has('create'))
    return <p className="help">{words('nothingYetForbidden')}</p>
  return (
    <p className="help">
      {words('nothingToLink')}{' '}
      <Link to={`/content/${target.pluralName}/create`}>
        {words('createFirst', { type: target.displayName })}
      </Link>
    </p>
  )
}
