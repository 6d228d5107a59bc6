import type { SentMail } from '../../mail/mail.ts'
import type { MailEnvelope, TemplateMail, TextMail } from '../../mail/open-mail.ts'
import type { Mails } from '../registry.ts'

/** `app.mail`: sends mails by the mail server of project.yaml. */
export interface PluginMail {
  /**
   * Resolves when the mail server has taken the mail. Rejects with a MailError that says whether to retry, and with a plain
   * Error for a mistake of the code, such as an unknown template.
   */
  send(mail: MailEnvelope & (TextMail | NamedMail)): Promise<SentMail>
}

/** A template of mails/ with its variables, as `plinth types` found them. */
type NamedMail = keyof Mails extends never
  ? TemplateMail
  : {
      [Name in keyof Mails]: Omit<TemplateMail, 'template' | 'data'> & { readonly template: Name } & DataOf<
          Mails[Name]
        >
    }[keyof Mails]

/** `data` may be left out if the template has no variables. */
type DataOf<Data> = Record<never, never> extends Data ? { readonly data?: Data } : { readonly data: Data }
