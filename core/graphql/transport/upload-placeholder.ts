import { isRecord } from '../../query/parse-place.ts'
import { SentFile } from '../sdl/sent-file.ts'

/**
 * The operations with a file in a place that was kept free for it: null, or left out of an object. undefined: the
 * path leads to no such place.
 */
export function fillPlace(given: unknown, [step, ...rest]: readonly string[], file: SentFile): unknown {
  if (step === undefined) return given === null || given === undefined ? file : undefined
  if (Array.isArray(given)) {
    const index = /^\d+$/.test(step) ? Number(step) : given.length
    const filled = index < given.length ? fillPlace(given[index], rest, file) : undefined
    return filled === undefined ? undefined : given.with(index, filled)
  }
  if (!isRecord(given) || given instanceof SentFile) return undefined
  const filled = fillPlace(Object.hasOwn(given, step) ? given[step] : undefined, rest, file)
  return filled === undefined ? undefined : { ...given, [step]: filled }
}
