import { join } from 'node:path'
import { didYouMean, hintFor } from '../base/nearest.ts'
import { readFolder } from '../base/read-folder.ts'
import { failed, ok, type Result } from '../base/result.ts'
import type { Diagnostic } from '../faults/diagnostic.ts'
import { sortDiagnostics } from '../project/faults.ts'
import type { Project } from '../project/project.ts'
import { readSource } from '../project/yaml/source-file.ts'
import { ACCOUNT_MAILS, accountVariables, defaultAccountMails } from './account-mails.ts'
import { type MailFault, type MailTemplate, parseTemplate } from './template.ts'

/** The folder of mail templates, next to project.yaml. */
export const MAILS_FOLDER = 'mails'

/** By name, then by locale; the empty locale is the plain file. */
export interface MailTemplates {
  readonly files: ReadonlyMap<string, ReadonlyMap<string, MailTemplate>>
  readonly locales: readonly string[]
  readonly defaultLocale: string
}

const FILE = /^([a-z0-9]+(?:-[a-z0-9]+)*)(?:\.([A-Za-z][A-Za-z0-9-]*))?\.md$/

interface FoundMail {
  readonly file: string
  readonly name: string
  /** Empty: the plain file. */
  readonly locale: string
}

/** Reads and checks the files of mails/. Fails with all faults. Loads no Markdown library. */
export async function loadTemplates({
  root,
  settings,
}: Pick<Project, 'root' | 'settings'>): Promise<Result<MailTemplates, Diagnostic>> {
  const { locales, defaultLocale } = settings.i18n
  const codes = locales.map(({ code }) => code)
  const found: FoundMail[] = []
  const faults: Diagnostic[] = []
  for (const file of await listMails(root)) {
    const [, name, locale = ''] = FILE.exec(file) ?? []
    if (name === undefined) faults.push(misnamed(file))
    else if (locale !== '' && !codes.includes(locale)) faults.push(unknownLocale(file, locale, codes))
    else found.push({ file, name, locale })
  }
  const files = new Map<string, ReadonlyMap<string, MailTemplate>>(defaultAccountMails(settings.auth.mail))
  for (const mail of found) {
    const read = await readTemplate(mail, root, settings.auth.mail.resetUrl)
    if (!read.ok) faults.push(...read.reasons)
    else files.set(mail.name, new Map([...(files.get(mail.name) ?? []), [mail.locale, read.value]]))
  }
  if (codes.length > 1) faults.push(...missingFallbacks(found, defaultLocale))
  return faults.length > 0 ? failed(...sortDiagnostics(faults)) : ok({ files, locales: codes, defaultLocale })
}

async function listMails(root: string): Promise<readonly string[]> {
  const entries = await readFolder(join(root, MAILS_FOLDER))
  return entries
    .filter(entry => !entry.isDirectory() && entry.name.endsWith('.md') && entry.name !== 'README.md')
    .map(({ name }) => name)
    .toSorted()
}

async function readTemplate(
  { file, name }: FoundMail,
  root: string,
  resetUrl: string | null,
): Promise<Result<MailTemplate, Diagnostic>> {
  const source = await readSource(join(root, MAILS_FOLDER, file), root)
  return source.ok ? parseTemplate(source.value, accountVariables(name, { resetUrl })) : source
}

/** A mail in only some locales could not be sent in the others. */
function missingFallbacks(found: readonly FoundMail[], defaultLocale: string): readonly Diagnostic[] {
  const isFallback = ({ locale }: FoundMail) => locale === '' || locale === defaultLocale
  const complete = new Set([...found.filter(isFallback).map(({ name }) => name), ...ACCOUNT_MAILS])
  const lonely = found.filter(
    ({ name }, at) => !complete.has(name) && found.findIndex(each => each.name === name) === at,
  )
  return lonely.map(({ file, name }) => {
    const message = `other locales have no \`${name}\`: add mails/${name}.md or mails/${name}.${defaultLocale}.md`
    return diagnoseFile('missing-fallback', message, file)
  })
}

const misnamed = (file: string): Diagnostic => {
  const message = `\`${file}\` is no name of a mail: small letters, digits and hyphens, and perhaps a locale, such as order-confirmed.fr.md`
  return diagnoseFile('bad-mail-name', message, file)
}

const unknownLocale = (file: string, locale: string, codes: readonly string[]): Diagnostic =>
  diagnoseFile('unknown-locale', `the project has no locale \`${locale}\`${hintFor(locale, codes)}`, file)

const diagnoseFile = (code: MailFault, message: string, file: string): Diagnostic => ({
  code,
  message,
  path: [],
  location: { file: `${MAILS_FOLDER}/${file}`, line: 1, column: 1, source: '' },
})

/** The file for a locale, else for the default locale, else the plain one. Throws for an unknown name or locale. */
export function findTemplate(
  templates: MailTemplates,
  name: string,
  locale: string | undefined,
): MailTemplate {
  const { files, locales, defaultLocale } = templates
  const byLocale = files.get(name)
  if (!byLocale) {
    const near = didYouMean(name, files.keys())
    throw new Error(
      `there is no mail \`${name}\`${near || `: it would be the file ${MAILS_FOLDER}/${name}.md`}`,
    )
  }
  if (locale !== undefined && !locales.includes(locale))
    throw new Error(`the project has no locale \`${locale}\`${hintFor(locale, locales)}`)
  const found = byLocale.get(locale ?? defaultLocale) ?? byLocale.get(defaultLocale) ?? byLocale.get('')
  if (found) return found
  throw new Error(`the mail \`${name}\` has no text for the locale \`${locale ?? defaultLocale}\``)
}
