import { didYouMean } from '../../base/nearest.ts'
import type { ProjectFinding } from '../faults.ts'
import type { Settings } from '../settings/settings.ts'

const OPTIONS: Readonly<Record<string, { known: readonly string[]; needed: readonly string[] }>> = {
  local: { known: [], needed: [] },
  s3: {
    known: ['endpoint', 'region', 'bucket', 'accessKeyId', 'secretAccessKey', 'publicUrl', 'private'],
    needed: ['bucket', 'accessKeyId', 'secretAccessKey'],
  },
}

/** A built-in upload provider needs its required options and allows no unknown ones. An extension checks its own. */
export function* providerOptions({ upload }: Settings): Generator<ProjectFinding> {
  const options = OPTIONS[upload.provider]
  if (!options) return
  const { known, needed } = options
  const path = ['upload', 'providerOptions']
  for (const key of Object.keys(upload.providerOptions)) {
    if (known.includes(key)) continue
    const message = `unknown key \`${key}\`: the provider \`${upload.provider}\` has no such option`
    const meant = didYouMean(key, known)
    yield {
      code: 'unknown-key',
      message: meant ? `unknown key \`${key}\`${meant}` : message,
      path: [...path, key],
      atKey: true,
    }
  }
  const missing = needed.filter(key => !Object.hasOwn(upload.providerOptions, key))
  if (missing.length === 0) return
  const message = `the provider \`${upload.provider}\` needs ${missing.map(key => `\`${key}\``).join(', ')} in \`providerOptions\``
  yield { code: 'missing-key', message, path, atKey: true }
}
