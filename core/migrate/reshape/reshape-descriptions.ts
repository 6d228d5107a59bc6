import { gainsDrafts, gainsLocales, type Holding, losesDrafts, losesLocales } from './reshape.ts'

/** One line for a reader. */
export function versionWords(holding: Holding): string {
  const { pair, before, after } = holding
  const changes = [
    ...(gainsLocales(holding) ? [`make what is there the locale ${after.locale}`] : []),
    ...(losesLocales(holding) ? [`keep the locale ${before.locale} alone`] : []),
    ...(gainsDrafts(holding) ? ['make what is there published, with an equal draft'] : []),
    ...(losesDrafts(holding) ? ['keep what is published alone'] : []),
  ]
  return `${pair.desired.serves}: ${changes.join(', ')}`
}
