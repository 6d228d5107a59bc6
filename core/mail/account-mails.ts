import type { AuthSettings } from '../project/settings/settings.ts'
import { type KnownVariables, type MailTemplate, parseTemplate } from './template.ts'

/** The mails of accounts, which files in mails/ replace. */
export const ACCOUNT_MAILS = ['confirm-email', 'reset-password'] as const

export type AccountMail = (typeof ACCOUNT_MAILS)[number]

type MailSettings = Pick<AuthSettings['mail'], 'resetUrl'>

const COMMON = ['email', 'project']

/** The variables of an account mail; undefined for other mails, whose code decides. */
export function accountVariables(name: string, { resetUrl }: MailSettings): KnownVariables | undefined {
  if (name === 'confirm-email') return { names: ['link', ...COMMON] }
  if (name !== 'reset-password') return undefined
  if (resetUrl !== null) return { names: ['link', 'code', ...COMMON] }
  return {
    names: ['code', ...COMMON],
    hints: { link: 'the variable `link` needs `auth.mail.resetUrl` in project.yaml' },
  }
}

const CONFIRM = `---
subject: Confirm your address
---
Follow this link to confirm your address:

<{{ link }}>

It works once, for three days.
`

const reset = (how: string): string => `---
subject: Reset your password
---
Someone, hopefully you, forgot the password of this address.

${how}

It works once, for an hour.
`

/** The built-in texts, as plain files: a file for any locale precedes them. */
export function defaultAccountMails({
  resetUrl,
}: MailSettings): readonly (readonly [AccountMail, ReadonlyMap<string, MailTemplate>])[] {
  const how = resetUrl === null ? 'Use this code: {{ code }}' : 'Follow this link: <{{ link }}>'
  const texts = { 'confirm-email': CONFIRM, 'reset-password': reset(how) }
  return ACCOUNT_MAILS.map(name => [name, new Map([['', parsed(name, texts[name])]])] as const)
}

function parsed(name: string, text: string): MailTemplate {
  const template = parseTemplate({ path: name, shown: name, text })
  if (!template.ok) throw new Error(`the built-in mail ${name} is invalid`)
  return template.value
}
