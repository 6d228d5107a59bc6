import { GraphQLError } from 'graphql'
import { failed, ok, type Result } from '../../base/result.ts'
import { type Fault, fault, forbidden } from '../../faults/fault.ts'
import type { FormFile } from '../../media/read-form.ts'

/**
 * What a variable of a multipart request holds where its map names a file. A place gives its file once, so that no
 * aliases make many files of one. A class: the scalar `Upload` knows it from all that JSON can hold.
 */
export class UploadedFile {
  #file: FormFile | 'kept out' | 'taken'

  /** null: nobody kept the file of a caller who may not upload. */
  constructor(file: FormFile | null) {
    this.#file = file ?? 'kept out'
  }

  take(): Result<FormFile, Fault> {
    const file = this.#file
    if (file === 'kept out') return failed(forbidden())
    if (file === 'taken') return failed(fault('validation', TAKEN_TWICE, { key: 'file' }))
    this.#file = 'taken'
    return ok(file)
  }
}

const TAKEN_TWICE = 'A variable gives its file once: name a second one for the same file in ‘map’'

/** The value, once it holds no file: these go where the schema has an `Upload`, and nowhere else. */
export function withoutFiles<Value>(value: Value, scalar: string): Value {
  if (holdsFile(value))
    throw new GraphQLError(`${scalar} cannot hold a file: files go into variables of the type Upload`)
  return value
}

/** Variables are bounded in depth before (limit-variables.ts). */
const holdsFile = (value: unknown): boolean =>
  typeof value === 'object' &&
  value !== null &&
  (value instanceof UploadedFile || Object.values(value).some(holdsFile))
