import { type Document, type ErrorCode, visit, type YAMLError } from 'yaml'
import type { ProjectFault } from '../faults.ts'

/** A fault of the YAML itself, in words for somebody who does not know the parser. */
export interface SyntaxFault {
  readonly code: ProjectFault
  readonly message: string
  readonly offset: number
}

/** Codes of the parser that always mean the same. The others carry the parser's own sentence. */
const SENTENCES: Partial<Record<ErrorCode, string>> = {
  TAB_AS_INDENT: 'a tab in the indentation: YAML is indented with spaces',
  BAD_DQ_ESCAPE:
    'an unknown escape in a text between double quotes: write `\\\\` for a backslash, or use single quotes',
  MULTIPLE_DOCS: 'a second document begins here (`---`): a file holds one',
  MULTILINE_IMPLICIT_KEY: 'a key goes over several lines: is a `:` missing, or a quote?',
  BLOCK_AS_IMPLICIT_KEY: 'two `:` on one line: put a text that contains `: ` in quotes',
  BAD_SCALAR_START: 'a value cannot begin with this character: put it in quotes',
  NON_STRING_KEY: 'a key must be a text, not a list or a mapping',
  BAD_INDENT: 'the indentation does not fit the lines above',
  BLOCK_IN_FLOW: 'lines that are indented cannot stand between brackets: is a `]` or `}` missing?',
  MULTIPLE_ANCHORS: 'a value has at most one anchor',
  MULTIPLE_TAGS: 'a value has at most one tag',
  ALIAS_PROPS: 'an alias (`*name`) has neither a tag nor an anchor',
}

/** The first fault of each kind: what follows is most often its echo. Each unknown tag is a fault of its own. */
export function syntaxFaults(
  errors: readonly YAMLError[],
  document: Document,
  text: string,
): readonly SyntaxFault[] {
  const isFirst = (error: YAMLError) => errors.find(({ code }) => code === error.code) === error
  const told = errors.filter(error => error.code === 'TAG_RESOLVE_FAILED' || isFirst(error))
  const faults = told.map(error => toSyntaxFault(error, document, text))
  const open = faults[told.findIndex(isOpenQuote)]
  return open ? faults.filter(fault => fault === open || fault.offset < open.offset) : faults
}

function toSyntaxFault(error: YAMLError, document: Document, text: string): SyntaxFault {
  const offset = error.pos[0]
  if (error.code === 'RESOURCE_EXHAUSTION')
    return { code: 'too-deep', message: 'the file nests too deeply', offset }
  if (error.code === 'TAG_RESOLVE_FAILED') return { ...tagFault(text.slice(...error.pos)), offset }
  if (isOpenQuote(error)) {
    const message = 'the YAML cannot be read: the text that begins here has no closing quote'
    return { code: 'syntax', message, offset: quoteBefore(document, offset) }
  }
  return { code: 'syntax', message: `the YAML cannot be read: ${sentenceFor(error, text)}`, offset }
}

const isOpenQuote = ({ code, message }: YAMLError): boolean =>
  code === 'MISSING_CHAR' && message.startsWith('Missing closing')

/** The parser points to the end of the file; the quote that was left open is the last before it. */
function quoteBefore(document: Document, offset: number): number {
  let start = offset
  visit(document, {
    Scalar(_key, { type, range }) {
      if (type?.startsWith('QUOTE') && range && range[0] < offset) start = range[0]
    },
  })
  return start
}

function sentenceFor({ code, message, pos }: YAMLError, text: string): string {
  if (code === 'UNEXPECTED_TOKEN' && /\$\{/.test(text.slice(pos[0] - 1, pos[0] + 1))) {
    return 'between brackets, a text with `${…}` stands in quotes'
  }
  const bracket = /end with a ([\]}])/.exec(message)?.[1]
  if (bracket) return `a closing \`${bracket}\` is missing before here`
  if (code === 'MISSING_CHAR' && message.startsWith('Implicit map keys'))
    return 'a `:` and a space are missing after a key'
  return SENTENCES[code] ?? message.slice(0, 1).toLowerCase() + message.slice(1)
}

function tagFault(source: string): { code: ProjectFault; message: string } {
  const tag = source.split(/\s/)[0] ?? source
  if (!tag.startsWith('!')) return { code: 'bad-value', message: 'the value does not fit its tag' }
  return {
    code: 'unknown-tag',
    message: `unknown tag \`${tag}\`: put a text that begins with \`!\` in quotes`,
  }
}
