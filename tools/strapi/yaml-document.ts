import type { Path } from '../../core/faults/diagnostic.ts'
import type { Json } from '../../core/project/settings/settings.ts'

/** A project file under construction: ordered keys with comments. */
export interface Block {
  readonly kind: 'block'
  readonly entries: readonly DocumentEntry[]
  /** Comments after the last entry. */
  readonly closing: readonly string[]
}

export interface DocumentEntry {
  readonly key: string
  readonly value: Block | Flow | Variable
  /** Comments above the entry. */
  readonly notes: readonly string[]
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
  closing: readonly string[] = [],
): Block => ({
  kind: 'block',
  entries: entries.filter(entry => entry !== undefined),
  closing,
})

export const entry = (
  key: string,
  value: DocumentEntry['value'],
  notes: readonly string[] = [],
): DocumentEntry => ({
  key,
  value,
  notes,
})

/** A list of one entry; empty if the value is undefined. */
export const flow = (
  key: string,
  json: Json | undefined,
  notes: readonly string[] = [],
): DocumentEntry | undefined => (json === undefined ? undefined : entry(key, { kind: 'flow', json }, notes))

/** A list of one section; empty if it has no entries and no comments. */
export const section = (
  key: string,
  entries: readonly (DocumentEntry | undefined)[],
  notes: readonly string[] = [],
): DocumentEntry | undefined => {
  const inner = block(entries)
  return inner.entries.length + notes.length === 0 ? undefined : entry(key, inner, notes)
}

/** A comment with the path of its entry. */
export interface Remark {
  readonly path: Path
  readonly text: string
}

/** All comments in order. */
export function* remarksOf(sheet: Block, path: Path = []): Generator<Remark> {
  for (const { key, value, notes } of sheet.entries) {
    const here = [...path, key]
    for (const text of notes) yield { path: here, text }
    if (value.kind === 'block') yield* remarksOf(value, here)
  }
  for (const text of sheet.closing) yield { path, text }
}

const WIDTH = 110

/** Prints a project file with blank lines between sections and between content-types. */
export const printSheet = (sheet: Block): string =>
  `${sheet.entries.flatMap((each, index) => [...(index > 0 ? [''] : []), ...printEntry(each, 0)]).join('\n')}\n${printClosing(sheet)}`

const printClosing = ({ closing }: Block): string =>
  closing.length === 0 ? '' : `\n${closing.flatMap(note => printNote(note, 0)).join('\n')}\n`

/** Sections with a blank line between entries. */
const AIRY: ReadonlySet<string> = new Set(['components', 'contentTypes', 'roles'])

function printEntry({ key, value, notes }: DocumentEntry, depth: number): readonly string[] {
  const indent = '  '.repeat(depth)
  const above = notes.flatMap(note => printNote(note, depth))
  const name = `${indent}${printText(key)}:`
  if (value.kind === 'variable')
    return [...above, `${name} ${JSON.stringify(`\${${value.name}:-${value.fallback}}`)}`]
  if (value.kind === 'flow') return [...above, ...printFlow(name, value.json, depth)]
  if (value.entries.length === 0 && value.closing.length === 0) return [...above, `${name} {}`]
  const isAiry = depth === 0 && AIRY.has(key)
  const inner = value.entries.flatMap((each, index) => [
    ...(isAiry && index > 0 ? [''] : []),
    ...printEntry(each, depth + 1),
  ])
  const behind = value.closing.flatMap(note => printNote(note, depth + 1))
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

/** Prints a comment; line breaks are kept. */
function printNote(note: string, depth: number): readonly string[] {
  const start = `${'  '.repeat(depth)}# `
  return wrap(note.replace(/\s+/g, ' ').trim(), WIDTH - start.length).map(line => `${start}${line}`)
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
