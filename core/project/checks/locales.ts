import { nearest } from '../../base/nearest.ts'
import type { ProjectFinding } from '../faults.ts'
import type { Settings } from '../settings/settings.ts'

/** Codes must be valid and distinct, and include the default locale. */
export function* locales({ i18n }: Settings): Generator<ProjectFinding> {
  const codes = i18n.locales.map(({ code }) => code)
  for (const [index, code] of codes.entries()) {
    const path = ['i18n', 'locales', index]
    const first = codes.findIndex(other => other.toLowerCase() === code.toLowerCase())
    if (!isLanguage(code))
      yield { code: 'bad-value', message: `\`${code}\` is not the code of a language`, path }
    else if (first < index) {
      const related = { path: ['i18n', 'locales', first], message: 'it is also here' }
      yield {
        code: 'duplicate-name',
        message: `the locale \`${code}\` is in the list twice`,
        path,
        related,
      }
    }
  }
  if (!codes.includes(i18n.defaultLocale)) yield unknownDefault(i18n.defaultLocale, codes)
}

function isLanguage(code: string): boolean {
  try {
    return Intl.getCanonicalLocales(code).length === 1
  } catch (error) {
    if (error instanceof RangeError) return false
    throw error
  }
}

function unknownDefault(code: string, codes: readonly string[]): ProjectFinding {
  const meant = nearest(code, codes) ?? codes[0]
  const message = `the default locale \`${code}\` is not among \`locales\`: write \`defaultLocale: ${meant}\`, or add it to the list`
  return { code: 'unknown-name', message, path: ['i18n', 'defaultLocale'] }
}
