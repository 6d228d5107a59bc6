import { type I18nProvider, useTranslate } from 'ra-core'
import english from '../words/en.json'
import french from '../words/fr.json'

type Words = Readonly<Record<string, string>>

const WORDS: Readonly<Record<string, Words>> = { en: english, fr: french }
const LANGUAGE_KEY = 'plinth-language'

/** The languages of the interface, not of the content. */
export const LANGUAGES = Object.keys(WORDS).map(locale => ({
  locale,
  name: new Intl.DisplayNames(locale, { type: 'language' }).of(locale) ?? locale,
}))

function initialLanguage(): string {
  const wanted = [localStorage.getItem(LANGUAGE_KEY), ...navigator.languages.map(name => name.slice(0, 2))]
  return wanted.find(name => name !== null && Object.hasOwn(WORDS, name)) ?? 'en'
}

export function createI18nProvider(): I18nProvider {
  let language = initialLanguage()
  document.documentElement.lang = language
  return {
    translate: (key: string, values: Readonly<Record<string, unknown>> = {}) => {
      const text = WORDS[language]?.[key] ?? english[key as keyof typeof english]
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

/** The text of the interface for a key of words/en.json. */
export function useWords(): (
  key: keyof typeof english,
  values?: Readonly<Record<string, unknown>>,
) => string {
  return useTranslate()
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

/** The direction of content in a locale. In others than these the browser decides by the text, which may be a quotation. */
export const directionOf = (locale: string | null | undefined): 'rtl' | 'auto' => {
  if (!locale) return 'auto'
  return RIGHT_TO_LEFT.has(locale.split('-')[0] ?? '') || /-(Arab|Hebr)/i.test(locale) ? 'rtl' : 'auto'
}
