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
