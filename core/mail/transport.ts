import { randomBytes } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { failed, ok, type Result } from '../base/result.ts'
import { messageWithCauses } from '../base/text.ts'
import type { Observer } from '../observe/observation.ts'
import { type Deliver, type Mail, type MailAddress, MailError, type SentMail } from './mail.ts'

export interface MailTransportOptions {
  readonly url: string | null
  readonly from: string | null
  /** The project's folder. */
  readonly root: string
  readonly production: boolean
  readonly observer: Pick<Observer, 'emit'>
  /** The address of the server, for the sender where the project names none. */
  readonly address: string
  /** Milliseconds that a request may take: a mail never takes longer. */
  readonly requestTimeout: number
}

/** Relative to the project's folder. */
export const MAIL_FOLDER = join('.plinth', 'mail')

/** Sends by SMTP if configured; otherwise development writes mails to a folder. Fails with a message for an invalid URL. */
export function openTransport(options: MailTransportOptions): Result<Deliver, string> {
  const { url, from, address, production, observer, requestTimeout } = options
  if (url === null) return ok(production ? refuseMails(options) : writeMails(options))
  if (!URL.canParse(url) || new URL(url).hostname === '')
    return failed('auth.mail.url is no address of a mail server: write it like smtp://user:password@host:587')
  const timeout = Math.min(SMTP_TIMEOUT, requestTimeout * REQUEST_SHARE || SMTP_TIMEOUT)
  return ok(sendBySmtp({ url, from: from ?? defaultSender(address), timeout }, observer))
}

const defaultSender = (address: string): string =>
  `no-reply@${URL.canParse(address) ? new URL(address).hostname : 'localhost'}`

/** Milliseconds: some servers delay the greeting of unknown clients. */
const SMTP_TIMEOUT = 15_000

/** The share of a request's time that a mail may take, so that the request can still answer. */
const REQUEST_SHARE = 0.8

/** Bounds the mails that queue up while a mail server hangs. */
const MAX_CONCURRENT = 20

function sendBySmtp(options: SmtpOptions, observer: MailTransportOptions['observer']): Deliver {
  let pending = 0
  return async mail => {
    const named = `the mail "${mail.subject}"`
    if (pending >= MAX_CONCURRENT) {
      const what = `Did not send ${named}: ${pending} others are under way`
      observer.emit({ kind: 'mailFailed', what })
      throw new MailError('unavailable', 'Too many mails are under way')
    }
    pending++
    try {
      const sent = await sendMail(mail, options)
      observer.emit({ kind: 'mail', what: `Sent ${named}` })
      return sent
    } catch (reason) {
      observer.emit({ kind: 'mailFailed', what: `Could not send ${named}: ${messageWithCauses(reason)}` })
      throw toMailError(reason)
    } finally {
      pending--
    }
  }
}

/** The texts of mail servers name hosts and accounts, so the message has none of them. */
function toMailError(reason: unknown): MailError {
  const { code, responseCode } = (reason ?? {}) as {
    readonly code?: unknown
    readonly responseCode?: unknown
  }
  const options = { cause: reason }
  if (code === 'EAUTH' || code === 'ENOAUTH')
    return new MailError(
      'not-configured',
      'The mail server refuses the credentials of auth.mail.url',
      options,
    )
  const isRefused = typeof responseCode === 'number' && responseCode >= 500
  return isRefused || code === 'EMESSAGE'
    ? new MailError('rejected', 'The mail server refuses the mail', options)
    : new MailError('unavailable', 'The mail server cannot be reached', options)
}

/** Does not log the mail: readers of logs must not be able to take over accounts. */
const refuseMails =
  ({ observer }: MailTransportOptions): Deliver =>
  async ({ subject }) => {
    const what = `Did not send the mail "${subject}": the project has no auth.mail.url`
    observer.emit({ kind: 'mailFailed', what })
    throw new MailError('not-configured', 'The project has no mail server')
  }

/** A text file that people can read, and the HTML part next to it. */
const writeMails =
  ({ root, from, observer }: MailTransportOptions): Deliver =>
  async mail => {
    const folder = join(root, MAIL_FOLDER)
    const id = `${new Date().toISOString().replaceAll(':', '-')}-${randomBytes(3).toString('hex')}`
    const to = mail.to.map(printAddress).join(', ')
    const head = [`From: ${from ?? 'plinth@localhost'}`, `To: ${to}`, `Subject: ${mail.subject}`]
    const text = [...head.map(oneLine), '', mail.text, ''].join('\n')
    await mkdir(folder, { recursive: true })
    if (mail.html !== undefined) await writeFile(join(folder, `${id}.html`), mail.html, { mode: 0o600 })
    await writeFile(join(folder, `${id}.txt`), text, { mode: 0o600 })
    observer.emit({ kind: 'mail', what: `Wrote the mail "${mail.subject}" to .plinth/mail/${id}.txt` })
    return { accepted: mail.to.map(({ address }) => address), rejected: [] }
  }

const printAddress = ({ name, address }: MailAddress): string => (name ? `${name} <${address}>` : address)

/** Prevents header injection: only the text may have several lines. */
const oneLine = (line: string): string => line.replace(/[\r\n]+/g, ' ')

interface SmtpOptions {
  /** `smtp://user:password@host:587`, or smtps://. A secret: never printed. */
  readonly url: string
  readonly from: string
  /** Milliseconds for one mail in total. */
  readonly timeout: number
}

/** Sends a mail. Rejects if the server refuses it, is unreachable, or exceeds the timeout; then the connection is closed. */
export async function sendMail(
  { to, replyTo, subject, text, html }: Mail,
  { url, from, timeout: within }: SmtpOptions,
): Promise<SentMail> {
  const { createTransport } = await import('nodemailer')
  const transport = createTransport({
    url,
    ...(needsTls(url) && { requireTLS: true }),
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  const signal = AbortSignal.timeout(within)
  const parts = { subject, text, ...(html !== undefined && { html }) }
  const addresses = { from, to: to.map(toEntry), ...(replyTo && { replyTo: toEntry(replyTo) }) }
  const sent = await transport.sendMail({ ...addresses, ...parts, signal }).catch((reason: unknown) => {
    throw signal.aborted ? new Error(`it was not taken within ${within / 1000} s`) : reason
  })
  return { accepted: sent.accepted.map(addressOf), rejected: sent.rejected.map(addressOf) }
}

/** An address given as an object is not parsed as a list of several. */
const toEntry = ({ name = '', address }: MailAddress) => ({ name, address })

const addressOf = (entry: string | { readonly address: string }): string =>
  typeof entry === 'string' ? entry : entry.address

/** Credentials are never sent unencrypted over a network. */
function needsTls(url: string): boolean {
  const { username, hostname, searchParams } = new URL(url)
  return username !== '' && !LOOPBACK_HOST.test(hostname) && !searchParams.has('ignoreTLS')
}

export const LOOPBACK_HOST = /^(localhost|127(\.\d+){3}|\[::1\])$/i
