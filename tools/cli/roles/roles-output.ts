import type { Path, SourceLocation } from '../../../core/faults/diagnostic.ts'
import type { Project } from '../../../core/project/project.ts'
import type { CommandContext } from '../command-options.ts'

export const OUTPUT_FORMATS = ['text', 'json'] as const
export type OutputFormat = (typeof OUTPUT_FORMATS)[number]

/** The input and output of a `plinth roles` command. */
export interface RolesContext extends CommandContext {
  readonly form: OutputFormat
}

/** The maximum width of the text output. */
export const WIDTH = 100

/** Wraps words to lines of at most `width` characters, unless a single word is longer. */
export function wrap(words: readonly string[], width: number, between = ' '): readonly string[] {
  const lines: string[] = []
  for (const [index, word] of words.entries()) {
    const piece = index < words.length - 1 ? word + between.trimEnd() : word
    const last = lines.at(-1)
    if (last !== undefined && last.length + 1 + piece.length <= width)
      lines[lines.length - 1] = `${last} ${piece}`
    else lines.push(piece)
  }
  return lines
}

/** A value as YAML on one line: `{ author: { id: $user.id } }`. */
export function flowYaml(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(flowYaml).join(', ')}]`
  if (typeof value === 'string') return /^[A-Za-z$_][\w$. -]*$/.test(value) ? value : JSON.stringify(value)
  if (typeof value !== 'object' || value === null) return String(value)
  const pairs = Object.entries(value).map(([key, part]) => `${flowYaml(key)}: ${flowYaml(part)}`)
  return pairs.length === 0 ? '{}' : `{ ${pairs.join(', ')} }`
}

const BREAK = /(?= (?:FROM|WHERE|JOIN|ORDER BY|AND|OR|LIMIT|UNION ALL)\b)/
const LEADING = / (?:FROM|WHERE|JOIN|ORDER BY|AND|OR|LIMIT|UNION ALL)\b/y

/** Breaks SQL into lines, indented by brackets. Quoted text stays unchanged, so the result can be run. */
export function breakSql(text: string): readonly string[] {
  const lines: string[] = ['']
  let depth = 0
  for (const part of text.split(/("[^"]*"|'[^']*')/).flatMap(breakUnquoted)) {
    LEADING.lastIndex = 0
    if (LEADING.test(part)) lines.push('  '.repeat(depth) + part.slice(1))
    else lines.push((lines.pop() ?? '') + part)
    if (!isQuoted(part)) depth += count(part, '(') - count(part, ')')
  }
  return lines
}

const isQuoted = (part: string): boolean => /^["']/.test(part)

const count = (text: string, letter: string): number => text.split(letter).length - 1

const breakUnquoted = (part: string): readonly string[] =>
  isQuoted(part) ? [part] : part.split(BREAK).filter(piece => piece !== '')

/** `project.yaml:12:5` */
export const printLocation = ({ file, line, column }: SourceLocation): string => `${file}:${line}:${column}`

/** Line numbers, `130, 134-136`, prefixed with the file's short name for included files. */
export function lineNumbers(
  paths: readonly Path[],
  project: Project,
  nameOf: (file: string) => string = file => file,
): readonly string[] {
  const files = new Map<string, Set<number>>()
  for (const { file, line } of paths.map(project.keyLocation)) {
    files.set(file, (files.get(file) ?? new Set()).add(line))
  }
  return [...files].flatMap(([file, lines]) => {
    const prefix = file === PROJECT_FILE ? '' : `${nameOf(file)}:`
    return toRanges([...lines].toSorted((a, b) => a - b)).map(range => prefix + range)
  })
}

const PROJECT_FILE = 'project.yaml'

function toRanges(lines: readonly number[]): readonly string[] {
  const ranges: [number, number][] = []
  for (const line of lines) {
    const last = ranges.at(-1)
    if (last && line === last[1] + 1) last[1] = line
    else ranges.push([line, line])
  }
  return ranges.map(([first, last]) => (first === last ? `${first}` : `${first}-${last}`))
}
