import { type Fault, fault } from '../../faults/fault.ts'
import { cleanName } from '../file-name.ts'
import { typeOf, type Upload } from '../prepare-file.ts'
import { pictureSize } from './picture-size.ts'

/**
 * The first picture whose header says more pixels than are allowed; undefined where none does. Asked before anything
 * is decoded: what a picture takes in memory grows with its pixels, not with its bytes.
 */
export function refusePixels(uploads: readonly Upload[], most: number): Fault | undefined {
  for (const upload of uploads) {
    const size = pictureSize(upload.file.staged.head, typeOf(upload).mime)
    if (size && size.width * size.height > most) return tooLarge(upload, size.width, size.height, most)
  }
  return undefined
}

const tooLarge = ({ file }: Upload, width: number, height: number, most: number): Fault =>
  fault(
    'validation',
    `${cleanName(file.filename)} has ${width} × ${height} pixels, and upload.pixelLimit allows ${most} together`,
    { key: 'files', found: width * height, expected: most },
  )
