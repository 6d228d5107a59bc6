import { GraphQLError } from 'graphql'
import { fault, forbidden, RequestFault } from '../../faults/fault.ts'
import type { FormFile } from '../../media/read-form.ts'

/**
 * The value of an `Upload` variable in a multipart request. It yields its file once, so that aliases cannot store one
 * file many times. A class instance cannot be forged in JSON.
 */
export class UploadedFile {
  #file: FormFile | 'kept out' | 'taken'

  /** null: the caller may not upload, so the file was not stored. */
  constructor(file: FormFile | null) {
    this.#file = file ?? 'kept out'
  }

  /** Throws a RequestFault if there is no file to yield. */
  take(): FormFile {
    const file = this.#file
    if (file === 'kept out')
      throw new RequestFault(forbidden('The caller lacks the permission `upload.upload`'))
    if (file === 'taken') throw new RequestFault(fault('validation', TAKEN_TWICE, { key: 'file' }))
    this.#file = 'taken'
    return file
  }
}

const TAKEN_TWICE = 'A variable gives its file once: name a second one for the same file in ‘map’'

/** Refuses a value that contains a file: files are only allowed for `Upload`. */
export function withoutFiles<Value>(value: Value, scalar: string): Value {
  if (holdsFile(value))
    throw new GraphQLError(`${scalar} cannot hold a file: files go into variables of the type Upload`)
  return value
}

/** Recursion is safe: prepare-operation.ts bounds the depth of variables. */
const holdsFile = (value: unknown): boolean =>
  typeof value === 'object' &&
  value !== null &&
  (value instanceof UploadedFile || Object.values(value).some(holdsFile))
