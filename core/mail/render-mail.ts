import { hintFor } from '../base/nearest.ts'
import { isRecord } from '../base/plain-data.ts'
import { escapeHtml } from '../base/text.ts'
import { MailError } from './mail.ts'
import type { RenderedText } from './markdown.ts'
import { type MailTemplate, type TemplateText, variablesOf } from './template.ts'

/** Values of variables. A nested object holds those with a path, such as `order.number`. */
export type MailData = Readonly<Record<string, unknown>>

/** The value of a variable. */
export type MailValue = string | number | bigint | boolean | Date | null

interface RenderedMail {
  readonly subject: string
  readonly text: string
  readonly html: string
}

/** Inserts values into a template. Throws for a missing value and for one that is no text. */
export async function renderMail(
  template: MailTemplate,
  data: MailData,
  language: string,
): Promise<RenderedMail> {
  const values = readValues(template, data)
  const { renderMarkdown } = await import('./markdown.ts')
  const rendered = renderMarkdown(template.body)
  const subject = fill(template.subject, values).trim()
  const asText = fillRendered(rendered.text, values, text => text).trim()
  const asHtml = fillRendered(rendered.html, values, text => escapeHtml(text).replaceAll('\n', '<br>'))
  const head = `<meta charset="utf-8"><title>${escapeHtml(subject)}</title>`
  const html = `<!doctype html>\n<html lang="${escapeHtml(language)}">\n<head>${head}</head>\n<body>\n${asHtml}</body>\n</html>\n`
  return { subject, text: asText, html }
}

type Values = ReadonlyMap<string, string>

const readValues = (template: MailTemplate, data: MailData): Values =>
  new Map(variablesOf(template).map(name => [name, readValue(name, data, template.file)]))

function readValue(name: string, data: MailData, file: string): string {
  let value: unknown = data
  for (const key of name.split('.')) {
    if (!isRecord(value) || !Object.hasOwn(value, key)) throw missing(name, key, { value, file })
    value = value[key]
  }
  if (value === null) return ''
  if (value instanceof Date && !Number.isNaN(value.getTime())) return value.toISOString()
  if (['string', 'number', 'bigint', 'boolean'].includes(typeof value)) return String(value)
  if (value === undefined) throw missing(name, name, { value: data, file })
  throw new Error(`${file}: the value of \`${name}\` must be a text, a number, a boolean or a date`)
}

function missing(name: string, key: string, at: { readonly value: unknown; readonly file: string }): Error {
  const input = isRecord(at.value) ? Object.keys(at.value).filter(each => each !== key) : []
  return new Error(`${at.file}: \`data\` has no value for \`${name}\`${hintFor(key, input, 'it is empty')}`)
}

const fill = (text: TemplateText, values: Values): string =>
  text.map(part => (typeof part === 'string' ? part : (values.get(part.variable) ?? ''))).join('')

/** An address that a value gives. Others, such as `javascript:`, run code or lead nowhere. */
const WEB_ADDRESS = /^(?:https?:\/\/|mailto:|tel:)[^\s<>"]+$/i

function fillRendered(text: RenderedText, values: Values, encode: (text: string) => string): string {
  const parts = text.map(part => {
    if (typeof part === 'string') return part
    const value = values.get(part.variable) ?? ''
    if (part.as === 'text') return encode(value)
    if (part.as === 'url-part') return encode(encodeURIComponent(Buffer.from(value).toString()))
    if (WEB_ADDRESS.test(value)) return encode(value)
    const message = `the value of \`${part.variable}\` is no address of a link: it begins with https:// or mailto:`
    throw new MailError('invalid', message, { details: { key: part.variable } })
  })
  return parts.join('')
}
