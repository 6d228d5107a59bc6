/** Why a database could not be opened: one clear message each, which names no secret. */
export interface OpeningFault {
  readonly kind: OpeningFaultKind
  readonly message: string
}

export type OpeningFaultKind =
  /** `database.url` is neither `embedded` nor a URL of PostgreSQL. */
  | 'url'
  /** No server answers there in time. */
  | 'unreachable'
  /** The servers that answer there take no writes. */
  | 'readonly'
  /** It has no room for another connection. */
  | 'full'
  /** The server knows neither this user nor this password. */
  | 'login'
  /** The server has no database of this name. */
  | 'missing'
  /** Older than PostgreSQL 14. */
  | 'tooOld'
  /** The database is not in UTF-8. */
  | 'encoding'
  /** Another process has the embedded database open. */
  | 'locked'
  /** `.plinth/` cannot be made, read or written. */
  | 'folder'
  /** The files of the embedded database make no sense to PostgreSQL. */
  | 'damaged'
  /** A pooler stands between that cannot keep what `database` asks for. */
  | 'pooler'
  /** The server refused for a reason of its own. */
  | 'refused'

/** Carries the fault through libraries that expect errors. */
export class OpeningError extends Error {
  override readonly name = 'OpeningError'
  readonly fault: OpeningFault

  constructor(kind: OpeningFaultKind, message: string, cause?: unknown) {
    super(message, { cause })
    this.fault = { kind, message }
  }
}
