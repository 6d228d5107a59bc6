/** Something that is wrong with a line of a stream. */
export interface LineFault {
  /** From 1. */
  readonly line: number
  /** What the line is about, as far as that is known: `article first (en, published)`. */
  readonly about: string | null
  /** One sentence; of an attribute, its path comes first. */
  readonly message: string
}

/** `documents.ndjson:17 article first (en, published): title must be at least 3 characters` */
export const printLineFault = ({ line, about, message }: LineFault, file: string): string =>
  `${file}:${line} ${about === null ? '' : `${about}: `}${message}`

/** Carries faults out of a transaction, which it rolls back. */
export class StreamRefused extends Error {
  override readonly name = 'StreamRefused'
  readonly faults: readonly LineFault[]

  constructor(faults: readonly LineFault[]) {
    super('The stream cannot be imported')
    this.faults = faults
  }
}

/** A file that cannot be read or written; the message names it. Not to be taken for what a socket of the database's reports. */
export class FileFault extends Error {
  override readonly name = 'FileFault'
}

/** What Node says of files, as such. */
export const toFileFault = (error: unknown): unknown =>
  error instanceof Error && 'syscall' in error ? new FileFault(error.message, { cause: error }) : error

/** The same work, whose errors of files are told from the database's. */
export async function overFiles<Value>(work: () => Promise<Value>): Promise<Value> {
  try {
    return await work()
  } catch (error) {
    throw toFileFault(error)
  }
}
