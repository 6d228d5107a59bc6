import { randomBytes } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { failed, ok, type Result } from '../../base/result.ts'
import type { Observer } from '../../observe/observation.ts'

/** Sends a mail, or says in the log why not. */
export type Mailer = (mail: Mail) => Promise<void>

export interface MailerTerms {
  readonly url: string | null
  readonly from: string | null
  /** The project's folder. */
  readonly root: string
  readonly production: boolean
  readonly observer: Pick<Observer, 'emit'>
  /** The address of the server, for the sender where the project names none. */
  readonly address: string
}

/** Relative to the project's folder. */
const MAIL_FOLDER = '.plinth/mail'

/** Sends by SMTP if configured; otherwise development writes mails to a folder. Fails with a message for an invalid URL. */
export function openMailer(terms: MailerTerms): Result<Mailer, string> {
  const { url, from, address, production, observer } = terms
  if (url === null) return ok(production ? refuseMails(terms) : writeMails(terms))
  if (!URL.canParse(url) || new URL(url).hostname === '')
    return failed('auth.mail.url is no address of a mail server: write it like smtp://user:password@host:587')
  return ok(sendBySmtp({ url, from: from ?? defaultSender(address), timeout: SMTP_TIMEOUT }, observer))
}

const defaultSender = (address: string): string =>
  `no-reply@${URL.canParse(address) ? new URL(address).hostname : 'localhost'}`

/** Milliseconds: some servers delay the greeting of unknown clients. */
const SMTP_TIMEOUT = 15_000

/** Bounds the mails that queue up while a mail server hangs. */
const MAX_CONCURRENT = 20

function sendBySmtp(terms: SmtpTerms, observer: MailerTerms['observer']): Mailer {
  let pending = 0
  return async mail => {
    const named = `the mail "${mail.subject}"`
    if (pending >= MAX_CONCURRENT)
      return observer.emit({
        kind: 'mailFailed',
        what: `Did not send ${named}: ${pending} others are under way`,
      })
    pending++
    try {
      await sendMail(mail, terms)
      observer.emit({ kind: 'mail', what: `Sent ${named}` })
    } catch (reason) {
      const why = reason instanceof Error ? reason.message : String(reason)
      observer.emit({ kind: 'mailFailed', what: `Could not send ${named}: ${why}` })
    } finally {
      pending--
    }
  }
}

/** Does not log the mail: readers of logs must not be able to take over accounts. */
const refuseMails =
  ({ observer }: MailerTerms): Mailer =>
  async ({ subject }) =>
    observer.emit({
      kind: 'mailFailed',
      what: `Did not send the mail "${subject}": the project has no auth.mail.url`,
    })

const writeMails =
  ({ root, from, observer }: MailerTerms): Mailer =>
  async ({ to, subject, text }) => {
    const folder = join(root, MAIL_FOLDER)
    const file = `${new Date().toISOString().replaceAll(':', '-')}-${randomBytes(3).toString('hex')}.txt`
    const lines = [`From: ${from ?? 'plinth@localhost'}`, `To: ${to}`, `Subject: ${subject}`, '', text, '']
    await mkdir(folder, { recursive: true })
    await writeFile(join(folder, file), lines.map(oneLine).join('\n'), { mode: 0o600 })
    observer.emit({ kind: 'mail', what: `Wrote the mail "${subject}" to ${MAIL_FOLDER}/${file}` })
  }

/** Prevents header injection: only the text may have several lines. */
const oneLine = (line: string, at: number): string => (at < 3 ? line.replace(/[\r\n]+/g, ' ') : line)

interface SmtpTerms {
  /** `smtp://user:password@host:587`, or smtps://. A secret: never printed. */
  readonly url: string
  readonly from: string
  /** Milliseconds for one mail in total. */
  readonly timeout: number
}

/** Sends a mail. Rejects if the server refuses it, is unreachable, or exceeds the timeout; then the connection is closed. */
export async function sendMail(
  { to, subject, text }: Mail,
  { url, from, timeout: within }: SmtpTerms,
): Promise<void> {
  const { createTransport } = await import('nodemailer')
  const transport = createTransport({
    url,
    ...(needsTls(url) && { requireTLS: true }),
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  const signal = AbortSignal.timeout(within)
  // An address given as an object is not parsed as a list of several.
  const mail = { from, to: { name: '', address: to }, subject, text, signal }
  await transport.sendMail(mail).catch((reason: unknown) => {
    throw signal.aborted ? new Error(`it was not taken within ${within / 1000} s`) : reason
  })
}

/** Credentials are never sent unencrypted over a network. */
function needsTls(url: string): boolean {
  const { username, hostname, searchParams } = new URL(url)
  return username !== '' && !LOOPBACK.test(hostname) && !searchParams.has('ignoreTLS')
}

const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/i

export interface Mail {
  readonly to: string
  readonly subject: string
  readonly text: string
}
