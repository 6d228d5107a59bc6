import { type Fault, fault } from '../faults/fault.ts'
import type { MediaKind } from '../project/settings/settings.ts'
import { cleanName } from './file-name.ts'
import { typeOf, type Upload } from './prepare-file.ts'

/** The first file that is not of a kind allowed, by its bytes; undefined where all are. */
export function refuseKinds(
  uploads: readonly Upload[],
  rules: readonly (readonly MediaKind[] | undefined)[],
): Fault | undefined {
  for (const upload of uploads) {
    const { kind, mime } = typeOf(upload)
    const rule = rules.find(allowed => allowed && !allowed.includes(kind))
    if (rule) return notAllowed(cleanName(upload.file.filename), mime, rule)
  }
  return undefined
}

const notAllowed = (name: string, mime: string, allowed: readonly MediaKind[]): Fault =>
  fault(
    'validation',
    `${name} is no file of a kind that is allowed here: ${allowed.join(', ') || 'none are'}`,
    {
      key: 'files',
      found: mime,
      expected: allowed,
    },
  )
