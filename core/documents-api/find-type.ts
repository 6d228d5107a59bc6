import { didYouMean } from '../base/nearest.ts'
import type { ContentType, Model } from '../model/model.ts'
import { refuse } from './unwrap-result.ts'

/** By uid or by key; throws RequestFault with the nearest one there is. */
export function findType(name: unknown, { contentTypes }: Model): ContentType {
  const found = contentTypes.get(String(name)) ?? [...contentTypes.values()].find(({ key }) => key === name)
  if (found) return found
  const names = [...contentTypes.values()].flatMap(({ uid, key }) => [uid, key])
  throw refuse(`There is no content-type ${String(name)}${didYouMean(String(name), names)}`, 'uid')
}
