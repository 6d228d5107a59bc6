/** A fault of a line of a stream. */
export interface LineFault {
  /** Counts from 1. */
  readonly line: number
  /** The document of the line, if known: `article first (en, published)`. */
  readonly about: string | null
  /** One sentence; for an attribute it begins with the path. */
  readonly message: string
}

/** `documents.ndjson:17 article first (en, published): title must be at least 3 characters` */
export const printLineFault = ({ line, about, message }: LineFault, file: string): string =>
  `${file}:${line} ${about === null ? '' : `${about}: `}${message}`

/** Thrown inside a transaction to roll it back and report the faults. */
export class StreamRefused extends Error {
  override readonly name = 'StreamRefused'
  readonly faults: readonly LineFault[]

  constructor(faults: readonly LineFault[]) {
    super('The stream cannot be imported')
    this.faults = faults
  }
}

/** A file that cannot be read or written; the message names it. A class of its own, because socket errors of the database look alike. */
export class FileFault extends Error {
  override readonly name = 'FileFault'
}

/** The record of an unfinished import cannot be continued; the message says what to do. */
export class RecordFault extends Error {
  override readonly name = 'RecordFault'
}

/** True if it is a file system error of Node. */
export const toFileFault = (error: unknown): unknown =>
  error instanceof Error && 'syscall' in error ? new FileFault(error.message, { cause: error }) : error

/** Runs the work and converts its file system errors to FileFault. */
export async function overFiles<Value>(work: () => Promise<Value>): Promise<Value> {
  try {
    return await work()
  } catch (error) {
    throw toFileFault(error)
  }
}
