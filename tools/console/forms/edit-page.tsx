import { useNotify } from 'ra-core'
import { type ReactNode, useEffect, useRef } from 'react'
import { useLocation, useNavigate, useParams, useSearchParams } from 'react-router-dom'
import type { JsonRecord } from '../api/json.ts'
import { type AttributeInfo, labelOf, type TypeInfo, toLabel } from '../api/schema.ts'
import type { ValueChange } from '../fields/field-props.ts'
import { FormProvider, useForm } from '../fields/form-context.tsx'
import { describeAttribute, describeValue } from '../lists/cell-value.tsx'
import { useSchema } from '../shell/context.tsx'
import { directionOf, useTranslate } from '../shell/i18n.tsx'
import { describeFault } from '../shell/notices.tsx'
import { EmptyPage, MissingPage } from '../shell/pages.tsx'
import { AttributeField } from './attribute-field.tsx'
import { ConflictModal } from './changes.tsx'
import { LocaleBar, useReference } from './locale-bar.tsx'
import { StatusActions } from './status-actions.tsx'
import { type DocumentForm, useDocument } from './use-document.ts'
import type { VersionKey } from './versions.ts'

export function EditPage({ isNew = false }: { readonly isNew?: boolean }) {
  const { plural = '', documentId = null } = useParams()
  const type = useSchema().types.find(
    ({ pluralName, kind }) => pluralName === plural && kind === 'collectionType',
  )
  return type ? <PlacedForm type={type} documentId={documentId} isNew={isNew} /> : <MissingPage />
}

export function SinglePage() {
  const { name = '' } = useParams()
  const type = useSchema().types.find(
    ({ singularName, kind }) => singularName === name && kind === 'singleType',
  )
  return type ? <PlacedForm type={type} documentId={null} isNew={false} /> : <MissingPage />
}

interface PlacedFormProps {
  readonly type: TypeInfo
  readonly documentId: string | null
  readonly isNew: boolean
}

function PlacedForm({ type, documentId, isNew }: PlacedFormProps) {
  const { defaultLocale } = useSchema()
  const [search] = useSearchParams()
  const locale = type.localized ? (search.get('locale') ?? defaultLocale) : null
  const versionKey = { type, documentId, locale }
  return (
    <DocumentEditor key={[type.uid, documentId, locale].join(' ')} versionKey={versionKey} isNew={isNew} />
  )
}

interface EditorProps {
  readonly versionKey: VersionKey
  readonly isNew: boolean
}

function DocumentEditor({ versionKey, isNew }: EditorProps) {
  const translate = useTranslate()
  const schema = useSchema()
  const { type, locale } = versionKey
  const form = useDocument(schema, versionKey, isNew)
  const [reference, setReference] = useReference(versionKey)
  const save = useSave(versionKey, form, isNew)
  const exists = form.base !== null
  const allowed = type.actions.has(isNew && !exists && type.kind !== 'singleType' ? 'create' : 'update')
  const heading = useHeadingFocus(form.loading)
  const title = titleOf(type, form, translate(isNew ? 'newDocument' : 'untitled'))
  useEffect(() => {
    document.title = `${title} – ${type.displayName}`
  }, [title, type])
  if (form.loading) return <p aria-busy="true">{translate('loading')}</p>
  if (form.fault && !exists && !form.dirty && !isNew)
    return <EmptyPage text={describeFault(form.fault, translate)} />
  if (!exists && !isNew && !type.localized && type.kind === 'collectionType' && !form.dirty)
    return <MissingPage />
  const context = {
    locale,
    fields: form.fields,
    readOnly: !allowed,
    values: form.values,
    waitFor: form.waitFor,
    reference,
  }
  return (
    <FormProvider value={context}>
      <form onSubmit={event => event.preventDefault()} aria-busy={form.busy}>
        <div className="title-row">
          <h1 ref={heading} tabIndex={-1} dir="auto">
            {title}
          </h1>
          <StatusActions versionKey={versionKey} form={form} isNew={isNew} allowed={allowed} save={save} />
        </div>
        <FormNotices form={form} exists={exists || isNew} />
        {type.localized && (
          <LocaleBar
            versionKey={versionKey}
            form={form}
            isNew={isNew}
            reference={reference}
            onReference={setReference}
          />
        )}
        <DocumentFields type={type} values={form.values} onChange={form.change} />
      </form>
      {form.conflict && form.base && (
        <ConflictModal
          type={type}
          base={form.base.values}
          mine={form.values}
          theirs={form.conflict.values}
          onResolve={form.resolve}
        />
      )}
    </FormProvider>
  )
}

/** Focuses the heading after the form of a new document is replaced by the form of the saved one. */
function useHeadingFocus(loading: boolean) {
  const heading = useRef<HTMLHeadingElement>(null)
  const state: unknown = useLocation().state
  const created = typeof state === 'object' && state !== null && 'created' in state
  useEffect(() => {
    if (created && !loading) heading.current?.focus()
  }, [created, loading])
  return heading
}

function titleOf(type: TypeInfo, { values }: DocumentForm, fallback: string): string {
  const label = labelOf(type)
  return (
    (label !== null && describeValue(values[label] ?? null)) ||
    (type.kind === 'singleType' ? type.displayName : fallback)
  )
}

/** Saves, notifies the user, and navigates to the page of a new document. */
function useSave({ type, locale }: VersionKey, form: DocumentForm, isNew: boolean) {
  const translate = useTranslate()
  const notify = useNotify()
  const navigate = useNavigate()
  return async (publish: boolean) => {
    const { href } = window.location
    const saved = await form.save(publish)
    if (!saved) return
    notify(translate(publish && type.draftAndPublish ? 'publishedNow' : 'saved'), { type: 'success' })
    // The user may have left the page while the request was running.
    if (!isNew || window.location.href !== href) return
    const query = locale === null ? '' : `?locale=${encodeURIComponent(locale)}`
    const state = { created: true }
    navigate(`/content/${type.pluralName}/${saved.documentId}${query}`, { replace: true, state })
  }
}

function FormNotices({ form, exists }: { readonly form: DocumentForm; readonly exists: boolean }) {
  const translate = useTranslate()
  return (
    <>
      {form.restored && (
        <p className="notice" role="status">
          {translate('restored')}{' '}
          <button
            type="button"
            onClick={() => {
              form.forget()
              void form.reload()
            }}
          >
            {translate('forget')}
          </button>
        </p>
      )}
      {!exists && <p className="notice">{translate('noLocaleYet')}</p>}
      {form.fault !== null && (
        <div className="fault" role="alert">
          <p>{describeFault(form.fault, translate)}</p>
          {form.fields.length > 0 && (
            <ul>
              {form.fields.map(({ path, message }) => (
                <li key={path.join('.') + message}>
                  <strong>{path.join(' › ')}</strong>: {message}
                </li>
              ))}
            </ul>
          )}
        </div>
      )}
    </>
  )
}

interface DocumentFieldsProps {
  readonly type: TypeInfo
  readonly values: JsonRecord
  readonly onChange: (name: string, change: ValueChange) => void
}

/** Attributes that the server sets; the form shows the times below the inputs. */
const SERVER_ATTRIBUTES: ReadonlySet<string> = new Set([
  'id',
  'documentId',
  'locale',
  'localizations',
  'createdBy',
  'updatedBy',
])
const TIMES = ['createdAt', 'updatedAt', 'publishedAt'] as const

/** The groups of the project file in their order, and every other attribute before them. */
function DocumentFields({ type, values, onChange }: DocumentFieldsProps) {
  const translate = useTranslate()
  const { layout } = type
  const shown = type.attributes.filter(
    ({ name }) =>
      !SERVER_ATTRIBUTES.has(name) && !TIMES.some(time => time === name) && !layout.hidden.includes(name),
  )
  const grouped = new Set(layout.groups.flatMap(({ attributes }) => attributes))
  const field = (attribute: AttributeInfo): ReactNode => (
    <AttributeField
      key={attribute.name}
      attribute={attribute}
      path={[attribute.name]}
      value={values[attribute.name] ?? null}
      help={layout.help[attribute.name] ?? null}
      siblings={values}
      onChange={change => onChange(attribute.name, change)}
    >
      <ReferenceValue attribute={attribute} />
    </AttributeField>
  )
  return (
    <>
      {shown.filter(({ name }) => !grouped.has(name)).map(field)}
      {layout.groups.map(({ title, attributes }) => (
        <details key={title} open className="group">
          <summary>{title}</summary>
          {attributes.flatMap(name => shown.filter(attribute => attribute.name === name)).map(field)}
        </details>
      ))}
      <dl className="times">
        {TIMES.filter(name => typeof values[name] === 'string').map(name => (
          <div key={name}>
            <dt>{translate(name)}</dt>
            <dd>{new Date(String(values[name])).toLocaleString(document.documentElement.lang)}</dd>
          </div>
        ))}
      </dl>
    </>
  )
}

/** The value of the attribute in the locale that is shown for comparison. */
function ReferenceValue({ attribute }: { readonly attribute: AttributeInfo }) {
  const schema = useSchema()
  const { reference } = useForm()
  if (!reference || !attribute.localized) return null
  const text = describeAttribute(schema, attribute, reference.values[attribute.name] ?? null)
  return (
    <p
      className="reference"
      lang={reference.locale}
      dir={directionOf(reference.locale)}
      title={toLabel(attribute.name)}
    >
      <strong>{reference.locale}</strong> {text || '—'}
    </p>
  )
}
