import type { Result } from '../base/result.ts'
import type { Fault } from '../faults/fault.ts'
import type { Actor } from '../query/command.ts'
import type { Attachment } from './attachment.ts'
import type { FileInfo } from './file-info.ts'
import type { FileConditions } from './permit-file.ts'
import type { Upload } from './prepare-file.ts'
import type { Form, FormFile, FormRules, FormSource } from './read-form.ts'

/**
 * The only way to write files: bytes and record together. What may be read of records is documents/' to answer.
 * Ids are those of records; every failure leaves neither a record without bytes nor a place that shows one.
 */
export interface Files {
  /** Stages the files that a form has, by default under `files`. Whoever reads it calls `discard`. */
  readForm(source: FormSource, rules?: FormRules): Promise<Result<Form, Fault>>
  /** One more of a file, for a second place: it has to be discarded, too. */
  again(file: FormFile): Promise<FormFile>
  discard(form: Pick<Form, 'files'>): Promise<void>
  /** Answers the documentIds in the order given. `by`: on whose behalf. */
  create(
    uploads: readonly Upload[],
    attachment: Attachment | null,
    by: Actor | null,
  ): Promise<Result<readonly string[], Fault>>
  /** Fails with notFound where there is no such file, or none that the caller sees; all three throw forbidden where the caller sees a file that does not meet its conditions. */
  change(id: number, info: FileInfo, conditions: FileConditions): Promise<Result<null, Fault>>
  /** New bytes under the old address. */
  replace(id: number, upload: Upload, conditions: FileConditions): Promise<Result<null, Fault>>
  /** Takes it out of every place, too. False: there was none, or none that the caller sees. */
  remove(id: number, conditions: FileConditions): Promise<boolean>
}
