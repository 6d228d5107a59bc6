import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from 'react-router-dom'
import { callApi } from '../api/client.ts'
import { versionParams } from '../api/data-provider.ts'
import { asList, isJsonObject, type JsonRecord, objectsOf } from '../api/json.ts'
import { type ApiSchema, findType, labelOf, type TypeInfo, toLabel } from '../api/schema.ts'
import { describeValue } from '../lists/cell-value.tsx'
import { useSchema } from '../shell/context.tsx'
import { useDebouncedInput } from '../shell/debounced-input.ts'
import { useTranslate } from '../shell/i18n.tsx'
import { describeFault } from '../shell/notices.tsx'
import type { InputProps } from './field-props.ts'
import { useForm } from './form-context.tsx'
import { OrderedList } from './ordered-list.tsx'

/** Linked documents in their order. The form writes the difference, never the whole list (docs/rest.md, "Relations"). */
export function RelationInput(props: InputProps) {
  const translate = useTranslate()
  const schema = useSchema()
  const { attribute, value, readOnly, onChange } = props
  const target = findType(schema, attribute.target)
  const many = attribute.relation?.endsWith('ToMany') ?? Array.isArray(value)
  const links = objectsOf(value)
  if (!target) return <p className="help">{translate('unreadableTarget')}</p>
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
      {links.length === 0 && <p className="help">{translate('noLinks')}</p>}
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

const MAX_CANDIDATES = 20

interface TargetSearch {
  readonly schema: ApiSchema
  readonly target: TypeInfo
  readonly search: string
  readonly locale: string | null
}

/** Searches the label attribute only: it may have an index; a search in all attributes seldom does. */
async function searchTargets({ schema, target, search, locale }: TargetSearch, signal: AbortSignal) {
  const label = target.attributes.find(({ name }) => name === labelOf(target))
  const named = { fields: [label?.name ?? 'documentId'], sort: label?.name }
  const criteria =
    search === '' || !label || label.type === 'enumeration'
      ? { _q: search || undefined }
      : { filters: { [label.name]: { $containsi: search } } }
  // GET /users has other parameters (docs/identity.md, "Users").
  const query =
    target === schema.users
      ? { ...named, ...criteria, limit: MAX_CANDIDATES }
      : {
          ...versionParams(schema, target, locale === null ? {} : { locale }),
          ...named,
          ...criteria,
          pagination: { limit: MAX_CANDIDATES, withCount: false },
        }
  const { body } = await callApi('GET', target.path, { query, signal })
  const list = isJsonObject(body) ? (body.data ?? null) : body
  return asList(list).filter(isJsonObject)
}

function LinkPicker({ target, name, chosen, onChoose }: LinkPickerProps) {
  const translate = useTranslate()
  const schema = useSchema()
  const { locale } = useForm()
  const [open, setOpen] = useState(false)
  const [search, setSearch] = useState('')
  const [typed, setTyped] = useDebouncedInput(search, setSearch)
  const result = useQuery({
    queryKey: ['pick', target.uid, search, locale],
    enabled: open,
    retry: false,
    queryFn: ({ signal }) => searchTargets({ schema, target, search, locale }, signal),
  })
  const candidates = (result.data ?? []).filter(({ documentId }) => !chosen.has(documentId))
  if (!open)
    return (
      <button type="button" onClick={() => setOpen(true)}>
        {translate('link')} {name}
      </button>
    )
  return (
    <div className="picker">
      <label>
        {translate('search')}
        {/* biome-ignore lint/a11y/noAutofocus: the user just opened this search. */}
        <input type="search" autoFocus value={typed} onChange={event => setTyped(event.target.value)} />
      </label>
      {result.error && <p className="fault">{describeFault(result.error, translate)}</p>}
      <ul aria-busy={result.isFetching}>
        {candidates.map(link => (
          <li key={String(link.documentId)}>
            <button type="button" dir="auto" onClick={() => onChoose(link)}>
              {describeValue(link)}
            </button>
          </li>
        ))}
      </ul>
      {result.data && candidates.length === 0 && (
        <NothingToLink target={target} searched={search !== ''} allLinked={result.data.length > 0} />
      )}
      <button type="button" onClick={() => setOpen(false)}>
        {translate('close')}
      </button>
    </div>
  )
}

interface NothingToLinkProps {
  readonly target: TypeInfo
  readonly searched: boolean
  /** All results are linked already. */
  readonly allLinked: boolean
}

/** The reason for an empty list of candidates, and a link to create one. */
function NothingToLink({ target, searched, allLinked }: NothingToLinkProps) {
  const translate = useTranslate()
  if (allLinked || searched)
    return <p className="help">{translate(allLinked ? 'allLinked' : 'nothingFound')}</p>
  if (target.kind !== 'collectionType' || !target.actions.has('create'))
    return <p className="help">{translate('nothingYetForbidden')}</p>
  return (
    <p className="help">
      {translate('nothingToLink')}{' '}
      <Link to={`/content/${target.pluralName}/create`}>
        {translate('createFirst', { type: target.displayName })}
      </Link>
    </p>
  )
}
