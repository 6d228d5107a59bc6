import { hintFor } from '../base/nearest.ts'
import { isRecord } from '../base/plain-data.ts'
import type { AccountMail } from './account-mails.ts'
import { findTemplate, type MailTemplates } from './load-templates.ts'
import { type Deliver, type MailAddress, MailError, type SentMail } from './mail.ts'
import { type MailData, renderMail } from './render-mail.ts'

/** What `app.mail.send` takes: a template with its data, or a text. */
export type OutgoingMail = MailEnvelope & (TemplateMail | TextMail)

export interface MailEnvelope {
  /** One receiver or several, at most 50. Each sees the addresses of the others. */
  readonly to: MailRecipient | readonly MailRecipient[]
  readonly replyTo?: MailRecipient | undefined
}

/** An address, or one with the name that mail programs show. */
export type MailRecipient = string | MailAddress

export interface TemplateMail {
  /** The name of a file in mails/: `order-confirmed`. */
  readonly template: string
  readonly data?: MailData
  /** Default: the default locale of the project. */
  readonly locale?: string | undefined
}

export interface TextMail {
  readonly subject: string
  readonly text: string
  readonly html?: string
}

/** Sends mails for the project's code and for accounts. */
export interface MailService {
  send(mail: OutgoingMail): Promise<SentMail>
  /** Failures are only logged: no response may depend on them. Stored addresses are not checked again. */
  sendToAccount(name: AccountMail, to: string, data: MailData): Promise<void>
}

export interface MailOptions {
  readonly templates: MailTemplates
  readonly deliver: Deliver
  /** `name` of project.yaml, for account mails. */
  readonly project: string
}

export function openMail({ templates, deliver, project }: MailOptions): MailService {
  const render = (name: string, data: MailData, locale: string | undefined) =>
    renderMail(findTemplate(templates, name, locale), data, locale ?? templates.defaultLocale)
  return Object.freeze({
    async send(mail: OutgoingMail) {
      const { to, replyTo, ...content } = readEnvelope(mail)
      const parts =
        typeof content.template === 'string'
          ? await render(content.template, readData(content.data), readLocale(content.locale))
          : readTextMail(content)
      checkParts(parts)
      return deliver({ to, ...(replyTo && { replyTo }), ...parts })
    },
    async sendToAccount(name: AccountMail, to: string, data: MailData) {
      const parts = await render(name, { ...data, email: to, project }, undefined)
      await deliver({ to: [{ address: to }], ...parts }).catch(ignoreLogged)
    },
  })
}

/** Transports have logged a MailError with its reason. */
function ignoreLogged(error: unknown): void {
  if (!(error instanceof MailError)) throw error
}

const KEYS = ['to', 'replyTo', 'template', 'data', 'locale', 'subject', 'text', 'html']
const TEMPLATE_KEYS = ['template', 'data', 'locale']
const TEXT_KEYS = ['subject', 'text', 'html']

/** Mail servers limit the receivers of one mail; longer lists are for a mailing service. */
const MAX_RECIPIENTS = 50

/** JavaScript plugins may pass anything. Mistakes of code throw an Error, invalid values of a client a MailError. */
function readEnvelope(mail: unknown) {
  if (!isRecord(mail))
    throw new Error('mail.send(…) takes an object: { to, template, data } or { to, subject, text }')
  const unknown = Object.keys(mail).find(key => !KEYS.includes(key))
  if (unknown !== undefined) throw new Error(`a mail has no key \`${unknown}\`${hintFor(unknown, KEYS)}`)
  const mixed = TEXT_KEYS.find(key => mail[key] !== undefined)
  if (mail.template !== undefined && mixed)
    throw new Error(`a mail has either \`template\` or \`${mixed}\`: the template gives subject and text`)
  const stray = TEMPLATE_KEYS.find(key => mail[key] !== undefined)
  if (mail.template === undefined && stray) throw new Error(`a mail with \`${stray}\` needs \`template\``)
  const { to, replyTo, ...content } = mail
  const list = Array.isArray(to) ? (to as readonly unknown[]) : [to]
  if (list.length === 0 || list.length > MAX_RECIPIENTS)
    throw invalid('to', `a mail has 1 to ${MAX_RECIPIENTS} receivers, not ${list.length}`)
  const recipients = list.map(each => readRecipient(each, 'to'))
  return {
    to: recipients,
    replyTo: replyTo === undefined ? undefined : readRecipient(replyTo, 'replyTo'),
    ...content,
  } as {
    readonly to: readonly MailAddress[]
    readonly replyTo: MailAddress | undefined
    readonly [key: string]: unknown
  }
}

const invalid = (key: string, message: string): MailError =>
  new MailError('invalid', message, { details: { key } })

function readRecipient(input: unknown, key: string): MailAddress {
  const { name, address, ...others } = isRecord(input) ? input : { address: input, name: undefined }
  const [other] = Object.keys(others)
  if (other !== undefined)
    throw new Error(`a receiver has no key \`${other}\`${hintFor(other, ['name', 'address'])}`)
  if (typeof address !== 'string' || !isMailAddress(address)) throw invalid(key, addressMessage(address, key))
  if (name === undefined || name === null || name === '') return { address }
  if (typeof name !== 'string' || CONTROL.test(name) || name.length > 200)
    throw invalid(key, `the name of a receiver in \`${key}\` must be one line of at most 200 characters`)
  return { name, address }
}

function addressMessage(address: unknown, key: string): string {
  if (typeof address !== 'string') return `\`${key}\` must be a mail address, not ${describe(address)}`
  if (CONTROL.test(address))
    return `\`${key}\` is no mail address: it contains a line break or another control character`
  if (/^[^<>]*<[^<>]*>$/.test(address))
    return `\`${key}\` must be the address alone: give a name as { name, address }`
  if (/[,;]/.test(address)) return `\`${key}\` has several addresses in one text: give a list`
  return `\`${key}\` is no mail address`
}

const describe = (value: unknown): string =>
  value === undefined || value === null ? 'empty' : Array.isArray(value) ? 'a list' : `a ${typeof value}`

/** Control characters and line separators, which could begin another header. */
const CONTROL = /[\p{Cc}\u2028\u2029]/u

const ADDRESS = /^[^\s@<>()[\],;:\\"\p{Cc}]{1,64}@[\p{L}\p{N}](?:[\p{L}\p{N}.-]{0,251}[\p{L}\p{N}])?$/u

const isMailAddress = (text: string): boolean =>
  text.length <= 254 && ADDRESS.test(text) && !text.includes('..') && !/^\.|\.@/.test(text)

const readData = (data: unknown): MailData => {
  if (data === undefined) return {}
  if (isRecord(data)) return data
  throw new Error('the `data` of a mail is an object with the values of its variables')
}

const readLocale = (locale: unknown): string | undefined => {
  if (locale === undefined || locale === null || typeof locale === 'string') return locale ?? undefined
  throw new Error('the `locale` of a mail is the code of a locale')
}

function readTextMail(content: Readonly<Record<string, unknown>>): TextMail {
  const { template, subject, text, html } = content
  if (template !== undefined) throw new Error('the `template` of a mail is the name of a file in mails/')
  if (typeof subject !== 'string') throw invalid('subject', 'a mail needs `template`, or a text as `subject`')
  if (typeof text !== 'string') throw invalid('text', 'a mail needs a text as `text`')
  if (html !== undefined && typeof html !== 'string') throw invalid('html', '`html` must be a text')
  return { subject, text, ...(html !== undefined && { html }) }
}

const MAX_SUBJECT = 500

/** Characters of both parts together. */
const MAX_LENGTH = 5_000_000

function checkParts({ subject, text, html = '' }: TextMail): void {
  if (subject.trim() === '') throw invalid('subject', 'the subject of a mail must not be empty')
  if (CONTROL.test(subject)) throw invalid('subject', 'the subject of a mail must be one line')
  if (subject.length > MAX_SUBJECT)
    throw invalid('subject', `the subject of a mail has at most ${MAX_SUBJECT} characters`)
  if (text.length + html.length > MAX_LENGTH)
    throw invalid('text', `a mail has at most ${MAX_LENGTH.toLocaleString('en')} characters`)
}
