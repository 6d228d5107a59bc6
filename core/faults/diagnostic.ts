import { relative, resolve } from 'node:path'

/** The path to a key in a file: `['contentTypes', 'article', 'attributes', 'title']`. */
export type Path = readonly (string | number)[]

/** A position in a file. Lines and columns count from 1; columns count UTF-16 units. */
export interface SourceLocation {
  /** The path shown to the user: relative to the folder of project.yaml for files inside it, else absolute. */
  readonly file: string
  readonly line: number
  readonly column: number
  /** The whole line of the file, without its line break. */
  readonly source: string
}

/** A problem in one of the user's files. Every check returns all diagnostics that it finds. */
export interface Diagnostic {
  /** From a closed set per module (`unknown-key`, `unknown-target`, …). Stable: tests and editors rely on it. */
  readonly code: string
  readonly message: string
  readonly location: SourceLocation
  readonly path: Path
  /** A second location, such as the first definition of a name that is defined twice. */
  readonly related?: { readonly location: SourceLocation; readonly message: string }
}

/** `contentTypes.article.attributes.title`, `roles[0]`; a key that is not an identifier is quoted. */
export function printPath(path: Path): string {
  return path.reduce<string>((text, key) => {
    if (typeof key === 'number') return `${text}[${key}]`
    if (/^[A-Za-z_$][\w$-]*$/.test(key)) return text === '' ? key : `${text}.${key}`
    return `${text}[${JSON.stringify(key)}]`
  }, '')
}

/** Characters that are not visible or move the cursor, except line breaks and ordinary spaces. */
const INVISIBLE = /(?![\n ])[\p{Cc}\p{Cf}\p{Z}]/gu

/** `title\u{200b}`: a name with an invisible character looks like the one that is meant. */
const escapeInvisible = (text: string): string =>
  text.replace(INVISIBLE, character => `\\u{${character.codePointAt(0)?.toString(16)}}`)

/**
 * For a terminal: `file:line:column message`, the offending line, a caret below it. Invisible characters are escaped, so that a
 * file cannot send commands to the terminal.
 */
export function printDiagnostic(diagnostic: Diagnostic): string {
  const { location, message, path, related } = diagnostic
  const where = path.length === 0 ? '' : ` (${printPath(path)})`
  const text = escapeInvisible(`${message}${where}`)
  const lines = [`${location.file}:${location.line}:${location.column} ${text}`]
  if (location.source.trim() !== '') lines.push(...excerpt(location))
  if (related)
    lines.push(
      `  ${related.location.file}:${related.location.line}:${related.location.column} ${escapeInvisible(related.message)}`,
    )
  return lines.join('\n')
}

/** The diagnostics of a project in `folder` with paths from the working directory, which terminals and editors open. */
export const fromWorkingDirectory =
  (folder: string) =>
  (diagnostic: Diagnostic): Diagnostic => ({
    ...diagnostic,
    location: openable(diagnostic.location, folder),
    ...(diagnostic.related && {
      related: { ...diagnostic.related, location: openable(diagnostic.related.location, folder) },
    }),
  })

/** Names of other sources, such as `the environment`, stay. */
function openable(location: SourceLocation, folder: string): SourceLocation {
  const isFile = /\.\w+$/.test(location.file)
  return isFile ? { ...location, file: relative(process.cwd(), resolve(folder, location.file)) } : location
}

const EXCERPT_WIDTH = 120

function excerpt({ source, column, line }: SourceLocation): readonly string[] {
  const start = Math.max(0, column - EXCERPT_WIDTH + 20)
  const shown = source.slice(start, start + EXCERPT_WIDTH)
  const gutter = `  ${line} | `
  const visible = shown.replace(/(?!\t)[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu, '\ufffd')
  const indent = shown.slice(0, column - 1 - start).replace(/[^\t]/g, ' ')
  return [`${gutter}${visible}`, `${' '.repeat(gutter.length)}${indent}^`]
}
