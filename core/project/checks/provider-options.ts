import { didYouMean } from '../../base/nearest.ts'
import type { ProjectFinding } from '../faults.ts'
import type { Settings } from '../settings/settings.ts'

const OPTIONS = {
  local: { known: [], needed: [] },
  s3: {
    known: ['endpoint', 'region', 'bucket', 'accessKeyId', 'secretAccessKey', 'publicUrl'],
    needed: ['bucket', 'accessKeyId', 'secretAccessKey'],
  },
} as const satisfies Record<
  Settings['upload']['provider'],
  { known: readonly string[]; needed: readonly string[] }
>

/** An upload provider needs its required options and allows no unknown ones. */
export function* providerOptions({ upload }: Settings): Generator<ProjectFinding> {
  const { known, needed }: { known: readonly string[]; needed: readonly string[] } = OPTIONS[upload.provider]
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
