import { type Fault, fault } from '../faults/fault.ts'
import type { MediaKind } from '../project/settings/settings.ts'
import { cleanName } from './file-record.ts'
import { pictureSize } from './pictures/picture-size.ts'
import { type Upload, uploadType } from './prepare-file.ts'

/** The fault of the first file whose kind, by its bytes, is not allowed; undefined if all are allowed. */
export function kindFault(
  uploads: readonly Upload[],
  rules: readonly (readonly MediaKind[] | undefined)[],
): Fault | undefined {
  for (const upload of uploads) {
    const { kind, mime } = uploadType(upload)
    const rule = rules.find(allowed => allowed && !allowed.includes(kind))
    if (rule) return kindNotAllowed(cleanName(upload.file.filename), mime, rule)
  }
  return undefined
}

const kindNotAllowed = (name: string, mime: string, allowed: readonly MediaKind[]): Fault =>
  fault(
    'validation',
    `${name} is no file of a kind that is allowed here: ${allowed.join(', ') || 'none are'}`,
    {
      key: 'files',
      found: mime,
      expected: allowed,
    },
  )

/**
 * The fault of the first picture whose header gives more pixels than allowed; undefined if there is none. Checked before
 * decoding, since memory use grows with pixels, not with bytes.
 */
export function pixelFault(uploads: readonly Upload[], most: number): Fault | undefined {
  for (const upload of uploads) {
    const size = pictureSize(upload.file.staged.head, uploadType(upload).mime)
    if (size && size.width * size.height > most) return tooManyPixels(upload, size.width, size.height, most)
  }
  return undefined
}

const tooManyPixels = ({ file }: Upload, width: number, height: number, most: number): Fault =>
  fault(
    'validation',
    `${cleanName(file.filename)} has ${width} × ${height} pixels, and upload.pixelLimit allows ${most} together`,
    { key: 'files', found: width * height, expected: most },
  )
