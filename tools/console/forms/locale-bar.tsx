import { useNotify } from 'ra-core'
import { useRef, useState } from 'react'
import { useSearchParams } from 'react-router-dom'
import { callApi } from '../api/client.ts'
import { versionParams } from '../api/data-provider.ts'
import { asList, isJsonObject, type JsonRecord, type JsonValue } from '../api/json.ts'
import { type ApiSchema, findType, type TypeInfo } from '../api/schema.ts'
import { linkedIds, mapValues, withoutIds } from '../fields/document-body.ts'
import type { FormContext } from '../fields/form-context.tsx'
import { useSchema } from '../shell/context.tsx'
import { useTranslate } from '../shell/i18n.tsx'
import type { DocumentForm } from './use-document.ts'
import { readVersion, type VersionKey } from './versions.ts'

type Reference = FormContext['reference']

interface LocaleBarProps {
  readonly versionKey: VersionKey
  readonly form: DocumentForm
  readonly isNew: boolean
  readonly reference: Reference
  readonly onReference: (locale: string) => Promise<void>
}

/** The locale that is shown for comparison, and a function that loads one. */
export function useReference(versionKey: VersionKey): [Reference, (locale: string) => Promise<void>] {
  const schema = useSchema()
  const [reference, setReference] = useState<Reference>(null)
  const chosen = useRef('')
  const choose = async (locale: string) => {
    chosen.current = locale
    if (locale === '') return setReference(null)
    const status = versionKey.type.actions.has('readDrafts') ? 'draft' : 'published'
    const version = await readVersion(schema, { ...versionKey, locale }, status)
    // Another locale may have been chosen meanwhile.
    if (chosen.current === locale) setReference({ locale, values: version?.values ?? {} })
  }
  return [reference, choose]
}

export function LocaleBar({ versionKey, form, isNew, reference, onReference }: LocaleBarProps) {
  const translate = useTranslate()
  const schema = useSchema()
  const [search, setSearch] = useSearchParams()
  const others = schema.locales.filter(locale => locale !== versionKey.locale)
  return (
    <div className="locales">
      <label>
        {translate('contentLocale')}
        <select
          value={versionKey.locale ?? ''}
          onChange={event => {
            search.set('locale', event.target.value)
            setSearch(search)
          }}
        >
          {schema.locales.map(locale => (
            <option key={locale}>{locale}</option>
          ))}
        </select>
      </label>
      {others.length > 0 && !isNew && (
        <label>
          {translate('compareLocale')}
          <select
            value={reference?.locale ?? ''}
            onChange={event => void onReference(event.target.value).catch(form.fail)}
          >
            <option value="">—</option>
            {others.map(locale => (
              <option key={locale}>{locale}</option>
            ))}
          </select>
        </label>
      )}
      {reference && <FillButton versionKey={versionKey} form={form} reference={reference} />}
    </div>
  )
}

interface FillButtonProps extends Pick<LocaleBarProps, 'versionKey' | 'form'> {
  readonly reference: NonNullable<Reference>
}

/** Copies the values of the compared locale into the form. */
function FillButton({ versionKey, form, reference }: FillButtonProps) {
  const translate = useTranslate()
  const schema = useSchema()
  const notify = useNotify()
  const [busy, setBusy] = useState(false)
  const fill = async () => {
    setBusy(true)
    const { values, skippedLinks } = await copyLocale(schema, versionKey, reference.values)
    form.fill(values)
    if (skippedLinks > 0) notify(translate('linksLeftOut', { count: skippedLinks }), { type: 'warning' })
  }
  return (
    <button
      type="button"
      disabled={busy}
      onClick={() =>
        void form
          .waitFor(fill())
          .catch(form.fail)
          .finally(() => setBusy(false))
      }
    >
      {translate('fillFrom', { locale: reference.locale })}
    </button>
  )
}

interface LocaleCopy {
  /** The localized attributes, without ids of components. */
  readonly values: JsonRecord
  /** Number of links to documents that do not exist in the target locale; the server would refuse the write. */
  readonly skippedLinks: number
}

/** The values of another locale that can be written in `locale`. uids are not copied: they are unique. */
async function copyLocale(
  schema: ApiSchema,
  { type, locale }: { readonly type: TypeInfo; readonly locale: string | null },
  values: JsonRecord,
): Promise<LocaleCopy> {
  const copied = type.attributes.filter(
    attribute =>
      attribute.localized &&
      attribute.writable &&
      attribute.type !== 'uid' &&
      values[attribute.name] !== undefined,
  )
  const links = new Map<TypeInfo, Set<string>>()
  mapValues(schema, copied, values, (attribute, value) => {
    const target = attribute.type === 'relation' ? findType(schema, attribute.target) : undefined
    if (target?.localized) links.set(target, new Set([...(links.get(target) ?? []), ...linkedIds(value)]))
    return value
  })
  const present = await findExisting(schema, locale, links)
  let skippedLinks = 0
  const isPresent = (target: TypeInfo | undefined, link: JsonValue): boolean => {
    const is = !target?.localized || linkedIds(link).every(id => present.get(target)?.has(id))
    if (!is) skippedLinks++
    return is
  }
  const copyable = mapValues(schema, copied, values, (attribute, value) => {
    if (attribute.type !== 'relation') return value
    const target = findType(schema, attribute.target)
    if (Array.isArray(value)) return asList(value).filter(link => isPresent(target, link))
    return isPresent(target, value) ? value : null
  })
  const copy = withoutIds(schema, copied, copyable)
  return { values: Object.fromEntries(copied.map(({ name }) => [name, copy[name] ?? null])), skippedLinks }
}

/** Documents of one request: the URL of a batch stays below the server's limit. */
const BATCH_SIZE = 90

/** The ids of the linked documents that exist in the locale, by type. */
async function findExisting(
  schema: ApiSchema,
  locale: string | null,
  links: ReadonlyMap<TypeInfo, ReadonlySet<string>>,
): Promise<ReadonlyMap<TypeInfo, ReadonlySet<string>>> {
  const existing = new Map<TypeInfo, Set<string>>()
  for (const [target, ids] of links) {
    const present = new Set<string>()
    existing.set(target, present)
    for (let start = 0; start < ids.size; start += BATCH_SIZE) {
      const batch = [...ids].slice(start, start + BATCH_SIZE)
      const query = {
        ...versionParams(schema, target, locale === null ? {} : { locale }),
        fields: ['documentId'],
        filters: { documentId: { $in: batch } },
        pagination: { start: 0, limit: batch.length, withCount: false },
      }
      const { body } = await callApi('GET', target.path, { query })
      const data = asList(isJsonObject(body) ? (body.data ?? null) : null)
      for (const { documentId } of data.filter(isJsonObject)) present.add(String(documentId))
    }
  }
  return existing
}
