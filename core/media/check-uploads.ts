import { fault, RequestFault } from '../faults/fault.ts'
import type { MediaKind } from '../project/settings/settings.ts'
import { cleanName } from './file-record.ts'
import { pictureSize } from './pictures/picture-size.ts'
import { type Upload, uploadType } from './prepare-file.ts'

interface UploadRules {
  /** Each list must allow the file; undefined: allows all. */
  readonly kinds: readonly (readonly MediaKind[] | undefined)[]
  /** Maximum number of pixels of a picture. */
  readonly pixelLimit: number
}

/** Throws a RequestFault for files whose kind, by their bytes, is not allowed, and for pictures with too many pixels. */
export function checkUploads(uploads: readonly Upload[], { kinds, pixelLimit }: UploadRules): void {
  for (const upload of uploads) checkKind(upload, kinds)
  for (const upload of uploads) checkPixels(upload, pixelLimit)
}

function checkKind(upload: Upload, rules: UploadRules['kinds']): void {
  const { kind, mime } = uploadType(upload)
  const rule = rules.find(allowed => allowed && !allowed.includes(kind))
  if (!rule) return
  const name = cleanName(upload.file.filename)
  const message = `${name} is no file of a kind that is allowed here: ${rule.join(', ') || 'none are'}`
  throw new RequestFault(fault('validation', message, { key: 'files', found: mime, expected: rule }))
}

/** Checked by the header before decoding, since memory use grows with pixels, not with bytes. */
function checkPixels(upload: Upload, most: number): void {
  const size = pictureSize(upload.file.staged.head, uploadType(upload).mime)
  if (!size || size.width * size.height <= most) return
  const { width, height } = size
  const name = cleanName(upload.file.filename)
  const message = `${name} has ${width} × ${height} pixels, and upload.pixelLimit allows ${most} together`
  throw new RequestFault(
    fault('validation', message, { key: 'files', found: width * height, expected: most }),
  )
}
