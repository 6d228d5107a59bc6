import { randomBytes } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { failed, ok, type Result } from '../../base/result.ts'
import type { Observer } from '../../observe/observation.ts'
import type { Mail } from './mail.ts'
import { type SmtpTerms, sendMail } from './smtp.ts'

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

/** Under the project's folder. */
const FOLDER = '.plinth/mail'

/** By SMTP where the project says how; development writes mails where who develops finds them. Fails with a sentence. */
export function openMailer(terms: MailerTerms): Result<Mailer, string> {
  const { url, from, address, production, observer } = terms
  if (url === null) return ok(production ? refuseMail(terms) : writeMail(terms))
  if (!URL.canParse(url) || new URL(url).hostname === '')
    return failed('auth.mail.url is no address of a mail server: write it like smtp://user:password@host:587')
  return ok(postMails({ url, from: from ?? senderAt(address), within: WITHIN }, observer))
}

const senderAt = (address: string): string =>
  `no-reply@${URL.canParse(address) ? new URL(address).hostname : 'localhost'}`

/** Milliseconds: some servers make who they do not know wait before they speak. */
const WITHIN = 15_000

/** A mail server that hangs must not gather mails without end. */
const MOST_AT_ONCE = 20

function postMails(terms: SmtpTerms, observer: MailerTerms['observer']): Mailer {
  let underWay = 0
  return async mail => {
    const named = `the mail "${mail.subject}"`
    if (underWay >= MOST_AT_ONCE)
      return observer.emit({
        kind: 'mailFailed',
        what: `Did not send ${named}: ${underWay} others are under way`,
      })
    underWay++
    try {
      await sendMail(mail, terms)
      observer.emit({ kind: 'mail', what: `Sent ${named}` })
    } catch (reason) {
      const why = reason instanceof Error ? reason.message : String(reason)
      observer.emit({ kind: 'mailFailed', what: `Could not send ${named}: ${why}` })
    } finally {
      underWay--
    }
  }
}

/** Whoever can read a log must not be able to take an account over. */
const refuseMail =
  ({ observer }: MailerTerms): Mailer =>
  async ({ subject }) =>
    observer.emit({
      kind: 'mailFailed',
      what: `Did not send the mail "${subject}": the project has no auth.mail.url`,
    })

const writeMail =
  ({ root, from, observer }: MailerTerms): Mailer =>
  async ({ to, subject, text }) => {
    const folder = join(root, FOLDER)
    const file = `${new Date().toISOString().replaceAll(':', '-')}-${randomBytes(3).toString('hex')}.txt`
    const lines = [`From: ${from ?? 'plinth@localhost'}`, `To: ${to}`, `Subject: ${subject}`, '', text, '']
    await mkdir(folder, { recursive: true })
    await writeFile(join(folder, file), lines.map(oneLine).join('\n'), { mode: 0o600 })
    observer.emit({ kind: 'mail', what: `Wrote the mail "${subject}" to ${FOLDER}/${file}` })
  }

/** The text may have several lines, headers must not. */
const oneLine = (line: string, at: number): string => (at < 3 ? line.replace(/[\r\n]+/g, ' ') : line)
