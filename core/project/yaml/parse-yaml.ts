import {
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  type Pair,
  parseDocument,
  type Scalar,
  visit,
  type YAMLError,
  type YAMLMap,
} from 'yaml'
import { didYouMean } from '../../base/nearest.ts'
import type { Diagnostic, Path } from '../../faults/diagnostic.ts'
import { type Environment, substitute } from '../environment.ts'
import type { ProjectFault } from '../faults.ts'
import { secretRanges, suspectRanges } from '../secret-ranges.ts'
import {
  locationAt,
  type Mark,
  type SecretTest,
  type SourceFile,
  type SourceText,
  toSourceFile,
} from './source-file.ts'
import { sentenceFor } from './syntax-sentences.ts'
import type { YamlEntry, YamlMap, YamlNode, YamlScalar } from './yaml-tree.ts'

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
export function parseYaml(source: SourceText, options: YamlParseOptions): ParsedYaml {
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
  const secrets = isBroken
    ? suspectRanges(source.text)
    : secretRanges(document, source.text, options.isSecret)
  const file = toSourceFile(source, secrets)
  const conflicts = isBroken ? conflictFaults(source.text) : []
  const syntax = conflicts.length > 0 ? conflicts : syntaxFaults(errors, document, source.text)
  const faults = syntax.map(
    ({ code, message, offset }): Diagnostic => ({
      code,
      message,
      location: locationAt({ file, offset }),
      path: [],
    }),
  )
  if (isBroken) return { faults }
  const read = toYamlTree(document, { file, environment: options.environment })
  return { tree: read.tree, faults: [...faults, ...read.faults] }
}

const isTagFault = (error: YAMLError): boolean => error.code === 'TAG_RESOLVE_FAILED'

/** A YAML syntax error, worded for users who do not know the parser. */
interface SyntaxFault {
  readonly code: ProjectFault
  readonly message: string
  readonly offset: number
}

/** Git's lines around the sides of a conflict. Lines of a block text are indented. */
const CONFLICT_LINE = /^(?:<{7}|={7}|>{7})(?=[ \r\n]|$)/gm

function conflictFaults(text: string): readonly SyntaxFault[] {
  const lines = [...text.matchAll(CONFLICT_LINE)]
  const begins = lines.filter(([line]) => line.startsWith('<'))
  const message =
    'a merge conflict is not resolved: keep one side or join both, and delete the lines `<<<<<<<`, `=======` and `>>>>>>>`'
  return (begins.length > 0 ? begins : lines).map(({ index }) => ({ code: 'syntax', message, offset: index }))
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

function tagFault(source: string): { code: ProjectFault; message: string } {
  const tag = source.split(/\s/)[0] ?? source
  if (!tag.startsWith('!')) return { code: 'bad-value', message: 'the value does not fit its tag' }
  return {
    code: 'unknown-tag',
    message: `unknown tag \`${tag}\`: put a text that begins with \`!\` in quotes`,
  }
}

interface Options {
  readonly file: SourceFile
  readonly environment: Environment
}

/** The state of one pass over a document. */
interface ReadState extends Options {
  readonly faults: Diagnostic[]
  /** By anchor; undefined while the anchored value is still being read. */
  readonly anchors: Map<string, YamlNode | undefined>
  /** The number of values in each anchored value, with its aliases expanded. */
  readonly weights: Map<YamlNode, number>
  /** The number of values that aliases have added so far. */
  aliased: number
}

/** Deeper than any real file, and far below the limit of the call stack. */
const MAX_DEPTH = 100
/** The limit of values that all aliases of a file may add, against alias bombs. */
const MAX_ALIASED = 20_000

/** Converts a parsed document to a tree: resolves aliases and merge keys, substitutes variables, collects faults. */
function toYamlTree(document: Document, options: Options): { tree: YamlNode; faults: readonly Diagnostic[] } {
  const pass: ReadState = { ...options, faults: [], anchors: new Map(), weights: new Map(), aliased: 0 }
  const tree = readNode(pass, document.contents, { path: [], fallback: 0 })
  return { tree, faults: pass.faults }
}

interface NodePosition {
  readonly path: Path
  /** The offset for an empty value: that of its key. */
  readonly fallback: number
}

function readNode(pass: ReadState, node: unknown, at: NodePosition): YamlNode {
  if (at.path.length > MAX_DEPTH)
    return broken(
      pass,
      { ...at, path: at.path.slice(0, 3) },
      'too-deep',
      `the file nests deeper than ${MAX_DEPTH} levels`,
    )
  if (isAlias(node)) return readAlias(pass, node.source, { ...at, fallback: node.range?.[0] ?? at.fallback })
  const anchor = isScalar(node) || isMap(node) || isSeq(node) ? node.anchor : undefined
  if (anchor !== undefined) pass.anchors.set(anchor, undefined)
  const read = readContent(pass, node, at)
  if (anchor !== undefined) pass.anchors.set(anchor, read)
  return read
}

function readContent(pass: ReadState, node: unknown, at: NodePosition): YamlNode {
  const offset = rangeStart(node) ?? at.fallback
  const mark = markAt(pass, offset)
  if (hasUnknownTag(node)) return unknown(pass, { path: at.path, fallback: offset })
  if (isMap(node)) return readMap(pass, node, { path: at.path, fallback: offset })
  if (isSeq(node)) {
    const items = node.items.map((item, index) =>
      readNode(pass, item, { path: [...at.path, index], fallback: offset }),
    )
    return { kind: 'list', mark, items }
  }
  return readScalar(pass, isScalar(node) ? node : undefined, { path: at.path, fallback: offset })
}

const KNOWN_TAG = /^(!|tag:yaml\.org,2002:(str|int|float|bool|null|map|seq))$/

/** Unknown tags were reported when the file was parsed. */
const hasUnknownTag = (node: unknown): boolean =>
  (isMap(node) || isSeq(node) || isScalar(node)) && node.tag !== undefined && !KNOWN_TAG.test(node.tag)

function readScalar(pass: ReadState, node: Scalar | undefined, at: NodePosition): YamlNode {
  const value = node?.value ?? null
  if (typeof value === 'string' && value.includes('${')) return readTemplate(pass, value, at)
  if (typeof value === 'bigint') return readInteger(pass, value, at)
  if (typeof value === 'number' && !Number.isFinite(value))
    return broken(pass, at, 'bad-number', 'the number has no end: JSON knows no infinity and no NaN')
  return scalar(pass, at, isPlain(value) ? value : String(value))
}

const isPlain = (value: unknown): value is YamlScalar['value'] =>
  value === null || typeof value === 'boolean' || typeof value === 'number' || typeof value === 'string'

function readInteger(pass: ReadState, value: bigint, at: NodePosition): YamlNode {
  const number = Number(value)
  if (Number.isSafeInteger(number)) return scalar(pass, at, number)
  return broken(pass, at, 'bad-number', 'the number is too large to be kept exactly: put it in quotes')
}

function readTemplate(pass: ReadState, value: string, at: NodePosition): YamlNode {
  const { text, variables, unset, malformed } = substitute(value, pass.environment)
  if (malformed) {
    return broken(
      pass,
      at,
      'bad-substitution',
      'after `${` comes the name of a variable and `}`, or `:-fallback}`; write `$${` for a literal `${`',
    )
  }
  for (const name of unset) {
    const message = `the environment variable \`${name}\` is not set: set it, or give a fallback with \`\${${name}:-…}\``
    broken(pass, at, 'unset-variable', message)
  }
  return { ...scalar(pass, at, text), variables, broken: unset.length > 0 }
}

function readAlias(pass: ReadState, name: string, at: NodePosition): YamlNode {
  const target = pass.anchors.get(name)
  if (target === undefined && pass.anchors.has(name)) {
    return broken(pass, at, 'alias-bomb', `the alias \`*${name}\` is inside the value that it refers to`)
  }
  if (target === undefined) {
    return broken(
      pass,
      at,
      'unknown-alias',
      `unknown alias \`*${name}\`${didYouMean(name, pass.anchors.keys()) || ': its anchor must stand above it'}`,
    )
  }
  if (pass.aliased > MAX_ALIASED) return unknown(pass, at)
  pass.aliased += weigh(pass, target)
  if (pass.aliased > MAX_ALIASED) {
    return broken(pass, at, 'alias-bomb', `the aliases of this file stand for more than 20,000 values`)
  }
  return target
}

function weigh(pass: ReadState, node: YamlNode): number {
  const known = pass.weights.get(node)
  if (known !== undefined) return known
  const weight = childrenOf(node).reduce((sum, child) => sum + weigh(pass, child), 1)
  pass.weights.set(node, weight)
  return weight
}

function childrenOf(node: YamlNode): readonly YamlNode[] {
  if (node.kind === 'list') return node.items
  return node.kind === 'map' ? Array.from(node.entries.values(), entry => entry.value) : []
}

/** Would set the prototype of an object. */
const FORBIDDEN_KEY = '__proto__'

function readMap(pass: ReadState, node: YAMLMap, at: NodePosition): YamlMap {
  const entries = new Map<string, YamlEntry>()
  const merges: Pair[] = []
  for (const pair of node.items) {
    if (isMergeKey(pair.key)) merges.push(pair)
    else readEntry(pass, pair, { entries, at })
  }
  for (const pair of merges) mergeInto(entries, readMergeSources(pass, pair, at))
  return { kind: 'map', mark: markAt(pass, at.fallback), entries }
}

const isMergeKey = (key: unknown): boolean => isScalar(key) && key.value === '<<' && key.type === 'PLAIN'

function readEntry(
  pass: ReadState,
  pair: Pair,
  { entries, at }: { entries: Map<string, YamlEntry>; at: NodePosition },
): void {
  const offset = rangeStart(pair.key) ?? at.fallback
  if (isAlias(pair.key))
    return void broken(pass, { ...at, fallback: offset }, 'bad-key', 'an alias cannot be a key')
  const name = String(isScalar(pair.key) ? pair.key.value : pair.key)
  const here: NodePosition = { path: [...at.path, name], fallback: offset }
  if (name === FORBIDDEN_KEY)
    return void broken(pass, here, 'bad-key', `the key \`${FORBIDDEN_KEY}\` is never allowed`)
  const first = entries.get(name)
  const value = readNode(pass, pair.value, here)
  if (first === undefined) return void entries.set(name, { key: markAt(pass, offset), value })
  const related = { location: locationAt(first.key), message: 'the first one is here' }
  report(pass, here, { code: 'duplicate-key', message: `duplicate key \`${name}\``, related })
}

function readMergeSources(pass: ReadState, pair: Pair, at: NodePosition): readonly YamlMap[] {
  const here: NodePosition = { path: [...at.path, '<<'], fallback: rangeStart(pair.key) ?? at.fallback }
  const source = readNode(pass, pair.value, here)
  const sources = source.kind === 'list' ? source.items : [source]
  return sources.flatMap(each => {
    if (each.kind === 'map') return [each]
    const isReported = each.kind === 'scalar' && each.broken
    if (!isReported)
      broken(pass, here, 'bad-merge', 'a merge key (`<<`) takes a mapping, or a list of mappings')
    return []
  })
}

/** A mapping's own keys take precedence over merged ones, and earlier sources over later ones. */
function mergeInto(entries: Map<string, YamlEntry>, sources: readonly YamlMap[]): void {
  for (const source of sources) {
    for (const [name, entry] of source.entries) if (!entries.has(name)) entries.set(name, entry)
  }
}

function scalar(pass: ReadState, at: NodePosition, value: YamlScalar['value']): YamlScalar {
  return { kind: 'scalar', mark: markAt(pass, at.fallback), value, variables: [], broken: false }
}

function broken(pass: ReadState, at: NodePosition, code: ProjectFault, message: string): YamlScalar {
  report(pass, at, { code, message })
  return unknown(pass, at)
}

/** A placeholder for a value whose fault was already reported. */
const unknown = (pass: ReadState, at: NodePosition): YamlScalar => ({
  ...scalar(pass, at, null),
  broken: true,
})

function report(
  pass: ReadState,
  at: NodePosition,
  fault: { code: ProjectFault; message: string; related?: Diagnostic['related'] },
): void {
  const { related, ...said } = fault
  pass.faults.push({
    ...said,
    location: locationAt(markAt(pass, at.fallback)),
    path: at.path,
    ...(related && { related }),
  })
}

const markAt = (pass: ReadState, offset: number): Mark => ({ file: pass.file, offset })

function rangeStart(node: unknown): number | undefined {
  return isScalar(node) || isMap(node) || isSeq(node) || isAlias(node) ? node.range?.[0] : undefined
}
