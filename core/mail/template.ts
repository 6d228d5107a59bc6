import { didYouMean, hintFor } from '../base/nearest.ts'
import { failed, ok, type Result } from '../base/result.ts'
import type { Diagnostic } from '../faults/diagnostic.ts'
import { parseYaml } from '../project/yaml/parse-yaml.ts'
import { locationLookup } from '../project/yaml/read-yaml.ts'
import { locationAt, type SourceFile, type SourceText, toSourceFile } from '../project/yaml/source-file.ts'
import { toValue } from '../project/yaml/yaml-tree.ts'

/** A text with variables. */
export type TemplateText = readonly (string | TemplateVariable)[]

export interface TemplateVariable {
  /** `name`, or a path such as `order.number`. */
  readonly variable: string
}

/** A checked mail template. */
export interface MailTemplate {
  /** `mails/order-confirmed.fr.md` */
  readonly file: string
  readonly subject: TemplateText
  /** Markdown. */
  readonly body: TemplateText
}

/** All diagnostic codes of mails/, in addition to those of any YAML file. */
export type MailFault =
  | 'bad-mail-name'
  | 'unknown-locale'
  | 'missing-fallback'
  | 'missing-subject'
  | 'bad-front-matter'
  | 'unclosed-variable'
  | 'bad-variable'
  | 'unknown-variable'

const MAX_SUBJECT = 500

/** Parses one file. Fails with all its faults. */
export function parseTemplate(source: SourceText, known?: KnownVariables): Result<MailTemplate, Diagnostic> {
  const file = toSourceFile(source, [])
  const front = findFrontMatter(source.text)
  if (front === null) {
    const message = 'a mail begins with its front matter: `---`, `subject: …`, `---`'
    return failed(diagnoseMail('bad-front-matter', message, { file, offset: 0 }))
  }
  const faults: Diagnostic[] = []
  const scan = { text: source.text, file, known, faults }
  const subject = readSubject(source, front, scan)
  const body = parseVariables(scan, front.end, source.text.length)
  if (subject === null || faults.length > 0) return failed(...faults)
  return ok(Object.freeze({ file: source.shown, subject, body }))
}

interface FrontMatter {
  /** Offset behind its first line. */
  readonly start: number
  /** Offset of its last line, `---`. */
  readonly close: number
  /** Offset of the body. */
  readonly end: number
}

function findFrontMatter(text: string): FrontMatter | null {
  const open = /^---[ \t]*\r?\n/.exec(text)
  if (!open) return null
  const fence = /^---[ \t]*(?:\r?\n|$)/gm
  fence.lastIndex = open[0].length
  const close = fence.exec(text)
  return close && { start: open[0].length, close: close.index, end: close.index + close[0].length }
}

/** null: the fault is in `scan.faults`. */
function readSubject(source: SourceText, front: FrontMatter, scan: Scan): TemplateText | null {
  const { file, faults } = scan
  const bare = /^subject:[ \t]*\{\{/m.exec(source.text.slice(front.start, front.close))
  if (bare) {
    const message = 'a subject that begins with `{{` is put in quotes'
    const offset = front.start + bare.index + bare[0].length - 2
    faults.push(diagnoseMail('bad-front-matter', message, { file, offset }))
    return null
  }
  // Blanks in place of the first line keep the offsets.
  const text = ' '.repeat(3) + source.text.slice(3, front.close)
  const parsed = parseYaml({ ...source, text }, { environment: {}, isSecret: () => false })
  faults.push(...parsed.faults)
  if (parsed.tree === undefined || parsed.faults.length > 0) return null
  const { location, keyLocation } = locationLookup(parsed.tree)
  const at = (diagnostic: { message: string; key?: string; code?: MailFault }): null => {
    const { message, key, code = 'bad-front-matter' } = diagnostic
    const spot = key === undefined ? location([]) : keyLocation([key])
    faults.push({ code, message, path: key === undefined ? [] : [key], location: spot })
    return null
  }
  const value = toValue(parsed.tree)
  if (value !== null && (typeof value !== 'object' || Array.isArray(value)))
    return at({ message: 'the front matter is a mapping with the key `subject`' })
  const keys = Object.keys(value ?? {})
  for (const key of keys.filter(each => each !== 'subject'))
    at({
      key,
      message: `unknown key \`${key}\`${didYouMean(key, ['subject']) || ': a mail has the key `subject`'}`,
    })
  if (faults.length > 0) return null
  const { subject } = (value ?? {}) as { readonly subject?: unknown }
  const problem = subjectProblem(subject)
  if (problem !== null)
    return at({ code: 'missing-subject', message: problem, ...(keys.length > 0 && { key: 'subject' }) })
  // The variables of the front matter are those of the subject. Its value has the same ones, at other offsets.
  parseVariables(scan, front.start, front.close)
  return parseVariables({ ...scan, text: String(subject), faults: [] }, 0, String(subject).length)
}

function subjectProblem(subject: unknown): string | null {
  if (subject === undefined) return 'the mail has no subject: write `subject: …` in the front matter'
  if (typeof subject !== 'string' || subject.trim() === '') return 'the subject must be a text'
  if (/[\r\n]/.test(subject)) return 'the subject must be one line'
  return subject.length > MAX_SUBJECT ? `the subject is longer than ${MAX_SUBJECT} characters` : null
}

/** The variables that a mail gives; a hint explains why a known one is missing. */
export interface KnownVariables {
  readonly names: readonly string[]
  readonly hints?: Readonly<Record<string, string>>
}

interface Scan {
  readonly text: string
  readonly file: SourceFile
  readonly known: KnownVariables | undefined
  readonly faults: Diagnostic[]
}

const VARIABLE = /^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*$/

/** Splits a part of a text at its variables, and reports invalid ones. */
function parseVariables({ text, file, known, faults }: Scan, from: number, until: number): TemplateText {
  const parts: (string | TemplateVariable)[] = []
  let at = from
  for (;;) {
    const open = text.indexOf('{{', at)
    if (open < 0 || open >= until) break
    const lineEnd = text.indexOf('\n', open)
    const line = text.slice(open + 2, lineEnd < 0 ? until : Math.min(lineEnd, until))
    const length = line.indexOf('}}')
    const fault = length < 0 ? UNCLOSED : variableFault(line.slice(0, length).trim(), known)
    if (fault) faults.push(diagnoseMail(...fault, { file, offset: open }))
    parts.push(text.slice(at, open))
    if (length >= 0) parts.push({ variable: line.slice(0, length).trim() })
    at = open + 2 + (length < 0 ? line.length : length + 2)
  }
  parts.push(text.slice(at, until))
  return parts.filter(part => part !== '')
}

const UNCLOSED = ['unclosed-variable', 'this `{{` has no `}}` on its line'] as const

function variableFault(name: string, known: KnownVariables | undefined): readonly [MailFault, string] | null {
  if (!VARIABLE.test(name))
    return ['bad-variable', `\`${name}\` is no name of a variable: write it like \`{{ order.number }}\``]
  if (!known || known.names.includes(name)) return null
  const hint = known.hints?.[name]
  return ['unknown-variable', hint ?? `this mail has no variable \`${name}\`${hintFor(name, known.names)}`]
}

function diagnoseMail(
  code: MailFault,
  message: string,
  { file, offset }: { readonly file: SourceFile; readonly offset: number },
): Diagnostic {
  return { code, message, path: [], location: locationAt({ file, offset }) }
}

/** The names of all variables, each once. */
export const variablesOf = ({ subject, body }: MailTemplate): readonly string[] => [
  ...new Set([...subject, ...body].flatMap(part => (typeof part === 'string' ? [] : [part.variable]))),
]
