/** True for an error of the file system that ends when the disk has room, or takes writes again. */
export const isDiskOutage = (error: unknown): error is Error =>
  error instanceof Error && 'code' in error && DISK_CODES.has(error.code)

const DISK_CODES: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT', 'EROFS'])
