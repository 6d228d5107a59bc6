import { fault, RequestFault } from '../faults/fault.ts'

/** A finished mail, as a transport takes it. */
export interface Mail {
  readonly to: readonly MailAddress[]
  readonly replyTo?: MailAddress
  readonly subject: string
  readonly text: string
  /** Absent: the mail has a text part only. */
  readonly html?: string
}

/** `name` is shown by mail programs. */
export interface MailAddress {
  readonly name?: string
  readonly address: string
}

export interface SentMail {
  /** The receivers that the mail server took. */
  readonly accepted: readonly string[]
  /** The receivers that it refused. If it refuses all, `send` rejects. */
  readonly rejected: readonly string[]
}

/** Delivers one mail. Rejects with a MailError. */
export type Deliver = (mail: Mail) => Promise<SentMail>

/**
 * `invalid`: an address, a subject or a text cannot be sent. `rejected`: the mail server refuses the mail for good.
 * `unavailable`: it is unreachable, too slow or busy. `not-configured`: there is no mail server, or it refuses the credentials.
 */
export type MailErrorKind = 'invalid' | 'rejected' | 'unavailable' | 'not-configured'

const FAULT_CODES = {
  invalid: 'validation',
  rejected: 'application',
  unavailable: 'unavailable',
  'not-configured': 'unavailable',
} as const satisfies Record<MailErrorKind, string>

/** Why a mail was not sent. Uncaught in a request it answers 400, or 503 if the mail server is at fault. */
export class MailError extends RequestFault {
  readonly kind: MailErrorKind
  /** The same mail may be taken later. */
  readonly retryable: boolean

  constructor(kind: MailErrorKind, message: string, options: MailErrorOptions = {}) {
    const retryable = kind === 'unavailable'
    super(fault(FAULT_CODES[kind], message, options.details ?? (kind === 'invalid' ? {} : { retryable })))
    this.kind = kind
    this.retryable = retryable
    // The reason of the mail server: for logs and code, never for a response.
    if (options.cause !== undefined) this.cause = options.cause
  }
}

interface MailErrorOptions extends ErrorOptions {
  readonly details?: Readonly<Record<string, unknown>>
}
