import type { ErrorCode, YAMLError } from 'yaml'

/** Messages for error codes of the parser that have one meaning. For other codes the parser's message is used. */
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

/** Says what is wrong, and what to write. `text`: the whole file. */
export function sentenceFor({ code, message, pos }: YAMLError, text: string): string {
  if (code === 'UNEXPECTED_TOKEN' && /\$\{/.test(text.slice(pos[0] - 1, pos[0] + 1))) {
    return 'between brackets, quote a text with `${…}`'
  }
  const [start] = pos
  const line = text.slice(text.lastIndexOf('\n', start - 1) + 1).split('\n', 1)[0] ?? ''
  if (code === 'MULTILINE_IMPLICIT_KEY' && /^(?:- )?[\w-]+:[^\s:]/.test(line.trimStart()))
    return 'a space is missing after the `:`'
  if (code === 'BLOCK_AS_IMPLICIT_KEY' && line.split(': ').length < 3)
    return 'the indentation does not fit: this value and the lines after it are read as one text'
  const bracket = /end with a ([\]}])/.exec(message)?.[1]
  if (bracket) return `a closing \`${bracket}\` is missing before here`
  if (code === 'MISSING_CHAR' && message.startsWith('Implicit map keys'))
    return 'a `:` and a space are missing after a key'
  if (message.startsWith('Alias cannot be') || /[\s{,]\*:/.test(text.slice(pos[0] - 4, pos[0] + 2)))
    return 'a `*` by itself must be in quotes: write `"*"`'
  return SENTENCES[code] ?? message.slice(0, 1).toLowerCase() + message.slice(1)
}
