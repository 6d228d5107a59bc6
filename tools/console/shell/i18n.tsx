import { type I18nProvider, useTranslate as useUntypedTranslate } from 'ra-core'
import english from '../translations/en.json'
import french from '../translations/fr.json'

type Messages = Readonly<Record<string, string>>

const TRANSLATIONS: Readonly<Record<string, Messages>> = { en: english, fr: french }
const LANGUAGE_KEY = 'plinth-language'

/** The languages of the interface, not of the content. */
export const LANGUAGES = Object.keys(TRANSLATIONS).map(locale => ({
  locale,
  name: new Intl.DisplayNames(locale, { type: 'language' }).of(locale) ?? locale,
}))

function initialLanguage(): string {
  const preferred = [localStorage.getItem(LANGUAGE_KEY), ...navigator.languages.map(name => name.slice(0, 2))]
  return preferred.find(name => name !== null && Object.hasOwn(TRANSLATIONS, name)) ?? 'en'
}

export function createI18nProvider(): I18nProvider {
  let language = initialLanguage()
  document.documentElement.lang = language
  return {
    translate: (key: string, values: Readonly<Record<string, unknown>> = {}) => {
      const text = TRANSLATIONS[language]?.[key] ?? english[key as keyof typeof english]
      if (text === undefined) return typeof values._ === 'string' ? values._ : key
      return text.replaceAll(/\{(\w+)\}/g, (_match, name: string) => String(values[name] ?? ''))
    },
    changeLocale: (locale: string) => {
      language = locale
      localStorage.setItem(LANGUAGE_KEY, locale)
      document.documentElement.lang = locale
      return Promise.resolve()
    },
    getLocale: () => language,
    getLocales: () => LANGUAGES,
  }
}

/** The text of the interface for a key of translations/en.json; `values` replace its `{name}`. */
export type Translate = (key: keyof typeof english, values?: Readonly<Record<string, unknown>>) => string

export function useTranslate(): Translate {
  return useUntypedTranslate()
}

const RIGHT_TO_LEFT: ReadonlySet<string> = new Set([
  'ar',
  'he',
  'fa',
  'ur',
  'ps',
  'sd',
  'yi',
  'dv',
  'ckb',
  'ug',
])

/** The direction of content in a locale. Outside these locales the browser decides by the text. */
export const directionOf = (locale: string | null | undefined): 'rtl' | 'auto' => {
  if (!locale) return 'auto'
  return RIGHT_TO_LEFT.has(locale.split('-')[0] ?? '') || /-(Arab|Hebr)/i.test(locale) ? 'rtl' : 'auto'
}
