import { type Document, type ErrorCode, parseDocument, visit, type YAMLError } from 'yaml'
import type { Diagnostic } from '../../faults/diagnostic.ts'
import type { Environment } from '../environment.ts'
import type { ProjectFault } from '../faults.ts'
import { type SecretTest, secretRanges, suspectRanges } from '../secret-ranges.ts'
import { toYamlTree } from './read-nodes.ts'
import { placeAt, type SourceText, toSourceFile } from './source-file.ts'
import type { YamlNode } from './yaml-tree.ts'

/** The parsed part of a file, and its faults. */
export interface ParsedYaml {
  /** Absent if the YAML syntax is broken. */
  readonly tree?: YamlNode
  readonly faults: readonly Diagnostic[]
}

export interface YamlParseOptions {
  readonly environment: Environment
  readonly isSecret: SecretTest
}

/** Parses one YAML 1.2 document with text keys. Duplicate keys, tags, aliases and merge keys are checked here, not by the parser. */
export function parseYaml(source: SourceText, terms: YamlParseOptions): ParsedYaml {
  const document = parseDocument(source.text, {
    version: '1.2',
    schema: 'core',
    merge: false,
    resolveKnownTags: false,
    stringKeys: true,
    uniqueKeys: false,
    intAsBigInt: true,
    prettyErrors: false,
    logLevel: 'error',
  })
  const errors: readonly YAMLError[] = [...document.errors, ...document.warnings.filter(isTagFault)]
  const isBroken = errors.some(error => !isTagFault(error))
  const secrets = isBroken ? suspectRanges(source.text) : secretRanges(document, source.text, terms.isSecret)
  const file = toSourceFile(source, secrets)
  const faults = syntaxFaults(errors, document, source.text).map(
    ({ code, message, offset }): Diagnostic => ({
      code,
      message,
      place: placeAt({ file, offset }),
      path: [],
    }),
  )
  if (isBroken) return { faults }
  const read = toYamlTree(document, { file, environment: terms.environment })
  return { tree: read.tree, faults: [...faults, ...read.faults] }
}

const isTagFault = (error: YAMLError): boolean => error.code === 'TAG_RESOLVE_FAILED'

/** A YAML syntax error, worded for users who do not know the parser. */
interface SyntaxFault {
  readonly code: ProjectFault
  readonly message: string
  readonly offset: number
}

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

/** Keeps the first error of each code, because later ones are usually consequences. Unknown tags are all kept. */
function syntaxFaults(
  errors: readonly YAMLError[],
  document: Document,
  text: string,
): readonly SyntaxFault[] {
  const isFirst = (error: YAMLError) => errors.find(({ code }) => code === error.code) === error
  const syntaxErrors = errors.filter(error => error.code === 'TAG_RESOLVE_FAILED' || isFirst(error))
  const faults = syntaxErrors.map(error => toSyntaxFault(error, document, text))
  const open = faults[syntaxErrors.findIndex(isOpenQuote)]
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

/** The parser reports an unclosed quote at the end of the file; the quote is the last one before that. */
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
    return 'between brackets, quote a text with `${…}`'
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
