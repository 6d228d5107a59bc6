import { useNotify } from 'ra-core'
import { useState } from 'react'
import { useSearchParams } from 'react-router-dom'
import type { FormContext } from '../fields/form-context.tsx'
import { useSchema } from '../shell/context.tsx'
import { useWords } from '../shell/i18n.tsx'
import { fillLocale } from './fill-locale.ts'
import type { DocumentForm } from './use-document.ts'
import { type DocumentPlace, readVersion } from './versions.ts'

type Reference = FormContext['reference']

interface LocaleBarProps {
  readonly place: DocumentPlace
  readonly form: DocumentForm
  readonly isNew: boolean
  readonly reference: Reference
  readonly onReference: (locale: string) => Promise<void>
}

/** Another locale of the document, read when it is chosen. */
export function useReference(place: DocumentPlace): [Reference, (locale: string) => Promise<void>] {
  const schema = useSchema()
  const [reference, setReference] = useState<Reference>(null)
  const choose = async (locale: string) => {
    if (locale === '') return setReference(null)
    const status = place.type.actions.has('readDrafts') ? 'draft' : 'published'
    const version = await readVersion(schema, { ...place, locale }, status)
    setReference({ locale, values: version?.values ?? {} })
  }
  return [reference, choose]
}

export function LocaleBar({ place, form, isNew, reference, onReference }: LocaleBarProps) {
  const words = useWords()
  const schema = useSchema()
  const [search, setSearch] = useSearchParams()
  const others = schema.locales.filter(locale => locale !== place.locale)
  const notify = useNotify()
  const [busy, setBusy] = useState(false)
  const fill = async () => {
    if (!reference) return
    setBusy(true)
    const { values, leftOut } = await fillLocale(schema, place, reference.values)
    form.fill(values)
    if (leftOut > 0) notify(words('linksLeftOut', { count: leftOut }), { type: 'warning' })
  }
  return (
    <div className="locales">
      <label>
        {words('contentLocale')}
        <select
          value={place.locale ?? ''}
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
          {words('compareLocale')}
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
      {reference && (
        <button
          type="button"
          disabled={busy}
          onClick={() =>
            void fill()
              .catch(form.fail)
              .finally(() => setBusy(false))
          }
        >
          {words('fillFrom', { locale: reference.locale })}
        </button>
      )}
    </div>
  )
}
