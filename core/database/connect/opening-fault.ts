/** Why a database could not be opened. The message contains no secret. */
export interface OpeningFault {
  readonly kind: OpeningFaultKind
  readonly message: string
}

export type OpeningFaultKind =
  /** `database.url` is neither `embedded` nor a PostgreSQL URL. */
  | 'url'
  /** No server answers in time. */
  | 'unreachable'
  /** The servers that answer take no writes. */
  | 'readonly'
  /** Too many connections. */
  | 'full'
  /** Wrong user or password. */
  | 'login'
  /** The server has no database of this name. */
  | 'missing'
  /** Older than PostgreSQL 14. */
  | 'tooOld'
  /** The database is not in UTF-8. */
  | 'encoding'
  /** Another process has the embedded database open. */
  | 'locked'
  /** `.plinth/` cannot be created, read or written. */
  | 'folder'
  /** PostgreSQL cannot read the files of the embedded database. */
  | 'damaged'
  /** A pooler does not support what `database` asks for. */
  | 'pooler'
  /** Any other refusal by the server. */
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
