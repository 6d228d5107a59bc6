import type { Path } from '../../core/faults/diagnostic.ts'
import type { Json } from '../../core/project/settings/settings.ts'

/** A project file under construction: ordered keys with comments. */
export interface Block {
  readonly kind: 'block'
  readonly entries: readonly DocumentEntry[]
  /** Comments after the last entry. */
  readonly closing: readonly Note[]
}

/** A comment in the project file, and a line of the report. */
export interface Note {
  /** What the report puts it under: lost content or access, code to rewrite, anything else. */
  readonly kind: 'lost' | 'code' | 'remark'
  readonly text: string
  /** The place in the Strapi project: `src/api/article/content-types/article/schema.json:12`. */
  readonly source?: string | undefined
  /** For code: its kind, such as `lifecycle`, and its replacement. The report has one line for each. */
  readonly group?: { readonly name: string; readonly successor: string }
}

/** A text is a remark. */
export type GivenNote = Note | string

const toNote = (declared: GivenNote): Note =>
  typeof declared === 'string' ? { kind: 'remark', text: declared } : declared

export const lost = (text: string, source?: string): Note => ({ kind: 'lost', text, source })

export interface DocumentEntry {
  readonly key: string
  readonly value: Block | Flow | Variable
  /** Comments above the entry. */
  readonly notes: readonly Note[]
  /** The place of the entry in the Strapi project; comments in it come from there. */
  readonly source?: string | undefined
}

/** A value that is printed on the line of its key if it fits. */
export interface Flow {
  readonly kind: 'flow'
  readonly json: Json
}

/** `${NAME:-fallback}`. */
export interface Variable {
  readonly kind: 'variable'
  readonly name: string
  readonly fallback: string
}

export const block = (
  entries: readonly (DocumentEntry | undefined)[],
  closing: readonly GivenNote[] = [],
): Block => ({
  kind: 'block',
  entries: entries.filter(entry => entry !== undefined),
  closing: closing.map(toNote),
})

export const entry = (
  key: string,
  value: DocumentEntry['value'],
  notes: readonly GivenNote[] = [],
): DocumentEntry => ({
  key,
  value,
  notes: notes.map(toNote),
})

/** A list of one entry; empty if the value is undefined. */
export const flow = (
  key: string,
  json: Json | undefined,
  notes: readonly GivenNote[] = [],
): DocumentEntry | undefined => (json === undefined ? undefined : entry(key, { kind: 'flow', json }, notes))

/** A list of one section; empty if it has no entries and no comments. */
export const section = (
  key: string,
  entries: readonly (DocumentEntry | undefined)[],
  notes: readonly GivenNote[] = [],
): DocumentEntry | undefined => {
  const inner = block(entries)
  return inner.entries.length + notes.length === 0 ? undefined : entry(key, inner, notes)
}

/** A comment with the path of its entry and its line in the project file. */
export interface Remark extends Note {
  readonly path: Path
  readonly line: number
}

/** A line of the file; the first line of a comment has the comment. */
type Line = string | { readonly text: string; readonly note: Note; readonly path: Path }

const WIDTH = 110

/** Prints a project file with blank lines between sections and between content-types, and lists its comments in order. */
export function printSheet(sheet: Block): { readonly yaml: string; readonly remarks: readonly Remark[] } {
  const sections = sheet.entries.flatMap((each, index): readonly Line[] => [
    ...(index > 0 ? [''] : []),
    ...printEntry(each, { depth: 0, path: [], source: undefined }),
  ])
  const closing = sheet.closing.flatMap(note => printNote(note, { depth: 0, path: [], source: undefined }))
  const lines = [...sections, ...(closing.length === 0 ? [] : ['', ...closing])]
  return {
    yaml: `${lines.map(line => (typeof line === 'string' ? line : line.text)).join('\n')}\n`,
    remarks: lines.flatMap((line, index) =>
      typeof line === 'string' ? [] : [{ ...line.note, path: line.path, line: index + 1 }],
    ),
  }
}

/** Sections with a blank line between entries. */
const AIRY: ReadonlySet<string> = new Set(['components', 'contentTypes', 'roles'])

interface Position {
  readonly depth: number
  readonly path: Path
  /** The place of the nearest entry that has one. */
  readonly source: string | undefined
}

function printEntry({ key, value, notes, source }: DocumentEntry, outer: Position): readonly Line[] {
  const { depth } = outer
  const here = { depth, path: [...outer.path, key], source: source ?? outer.source }
  const above = notes.flatMap(note => printNote(note, here))
  const name = `${'  '.repeat(depth)}${printText(key)}:`
  if (value.kind === 'variable')
    return [...above, `${name} ${JSON.stringify(`\${${value.name}:-${value.fallback}}`)}`]
  if (value.kind === 'flow') return [...above, ...printFlow(name, value.json, depth)]
  if (value.entries.length === 0 && value.closing.length === 0) return [...above, `${name} {}`]
  const inside = { ...here, depth: depth + 1 }
  const isAiry = depth === 0 && AIRY.has(key)
  const inner = value.entries.flatMap((each, index): readonly Line[] => [
    ...(isAiry && index > 0 ? [''] : []),
    ...printEntry(each, inside),
  ])
  const behind = value.closing.flatMap(note => printNote(note, inside))
  return [...above, value.entries.length === 0 ? `${name} {}` : name, ...inner, ...behind]
}

function printFlow(name: string, json: Json, depth: number): readonly string[] {
  const line = `${name} ${printJson(json)}`
  if (line.length <= WIDTH || typeof json !== 'object' || json === null) return [line]
  const indent = '  '.repeat(depth + 1)
  if (isList(json)) return [name, ...json.map(item => `${indent}- ${printJson(item)}`)]
  return [
    name,
    ...Object.entries(json).flatMap(([key, value]) =>
      printFlow(`${indent}${printText(key)}:`, value, depth + 1),
    ),
  ]
}

const isList = (json: Json): json is readonly Json[] => Array.isArray(json)

/** In flow style. */
function printJson(json: Json): string {
  if (typeof json === 'string') return printText(json)
  if (typeof json !== 'object' || json === null) return JSON.stringify(json)
  if (isList(json)) return `[${json.map(printJson).join(', ')}]`
  const entries = Object.entries(json).map(([key, value]) => `${printText(key)}: ${printJson(value)}`)
  return entries.length === 0 ? '{}' : `{ ${entries.join(', ')} }`
}

/** Texts that need no quotes, also in flow style and as keys. */
const PLAIN = /^(?:[A-Za-z_/](?:[\w ./+-]*[\w./+-])?|\d+(?:ms|[smhd]|[kmg]?b))$/

/** Words that YAML 1.1 or 1.2 reads as another type. */
const OTHERWISE = /^(?:true|false|null|yes|no|on|off|y|n|nan|inf)$/i

/** Prints a text, quoted if necessary; `${` is escaped. */
function printText(text: string): string {
  const literal = text.replaceAll('${', () => '$${')
  return PLAIN.test(literal) && !OTHERWISE.test(literal) ? literal : JSON.stringify(literal)
}

/** Prints a comment over as many lines as it needs. */
function printNote(note: Note, { depth, path, source }: Position): readonly Line[] {
  const start = `${'  '.repeat(depth)}# `
  const [first = '', ...rest] = wrap(note.text.replace(/\s+/g, ' ').trim(), WIDTH - start.length)
  const placed = note.source === undefined && source !== undefined ? { ...note, source } : note
  return [{ text: `${start}${first}`, note: placed, path }, ...rest.map(line => `${start}${line}`)]
}

function wrap(text: string, width: number): readonly string[] {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const last = lines.at(-1)
    if (last === undefined || last.length + 1 + word.length > width) lines.push(word)
    else lines[lines.length - 1] = `${last} ${word}`
  }
  return lines
}
