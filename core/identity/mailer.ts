import { randomBytes } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { failed, ok, type Result } from '../base/result.ts'

export interface Mail {
  readonly to: string
  readonly subject: string
  readonly text: string
}

/** Sends mails, or rejects. */
export type Mailer = (mail: Mail) => Promise<void>

export interface MailerTerms {
  readonly url: string | null
  readonly from: string | null
  /** The project's folder. */
  readonly root: string
  readonly production: boolean
  /** One sentence for the log. */
  readonly tell: (sentence: string) => void
}

/** Under the project's folder. */
const FOLDER = '.plinth/mail'

/** Development writes mails where who develops finds them. Fails with a sentence. */
export function openMailer(terms: MailerTerms): Result<Mailer, string> {
  if (terms.url !== null)
    return failed(
      'Mail by SMTP is not there yet: leave auth.mail.url out, and mails are written to .plinth/mail',
    )
  return ok(terms.production ? refuseMail(terms) : writeMail(terms))
}

/** Whoever can read a log must not be able to take an account over. */
const refuseMail =
  ({ tell }: MailerTerms): Mailer =>
  async ({ subject }) =>
    tell(`Did not send the mail "${subject}": the project has no auth.mail.url`)

const writeMail =
  ({ root, from, tell }: MailerTerms): Mailer =>
  async ({ to, subject, text }) => {
    const folder = join(root, FOLDER)
    const file = `${new Date().toISOString().replaceAll(':', '-')}-${randomBytes(3).toString('hex')}.txt`
    const lines = [`From: ${from ?? 'plinth@localhost'}`, `To: ${to}`, `Subject: ${subject}`, '', text, '']
    await mkdir(folder, { recursive: true })
    await writeFile(join(folder, file), lines.map(oneLine).join('\n'), { mode: 0o600 })
    tell(`Wrote the mail "${subject}" to ${FOLDER}/${file}`)
  }

/** The text may have several lines, headers must not. */
const oneLine = (line: string, at: number): string => (at < 3 ? line.replace(/[\r\n]+/g, ' ') : line)
