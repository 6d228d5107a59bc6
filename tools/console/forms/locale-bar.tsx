import { useNotify } from 'ra-core'
import { useRef, useState } from 'react'
import { useSearchParams } from 'react-router-dom'
import type { FormContext } from '../fields/form-context.tsx'
import { useSchema } from '../shell/context.tsx'
import { useTranslate } from '../shell/i18n.tsx'
import { copyLocale } from './fill-locale.ts'
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
