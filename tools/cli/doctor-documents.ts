import { readdir, readFile } from 'node:fs/promises'
import { join, posix } from 'node:path'
import { failed, ok, type Result } from '../../core/base/result.ts'
import type { DocumentFile } from '../../core/graphql/limits/survey-documents.ts'
import {
  type ExpressionNode,
  memberPath,
  type ParsedModule,
  type PropertyNode,
  parseModule,
  type StatementNode,
  unwrapExpression,
  type ValueNode,
} from '../strapi/read/parse-module.ts'

/** A document that cannot be checked, with the place of the cause. */
export interface SkippedDocument {
  readonly file: string
  readonly line: number
  readonly column: number
  readonly message: string
}

/** The documents of a folder. */
export interface ClientDocuments {
  readonly documents: readonly DocumentFile[]
  readonly skipped: readonly SkippedDocument[]
}

/** Reads the GraphQL documents of a folder: .graphql and .gql files, and templates in code. */
export async function readGraphqlDocuments(folder: string): Promise<Result<ClientDocuments, string>> {
  try {
    const names = (await listFiles(folder, '')).sort()
    const files: DocumentFile[] = []
    for (const file of names) files.push({ file, text: await readFile(join(folder, file), 'utf8') })
    const own = files.filter(({ file }) => DOCUMENT.test(file))
    const { documents, skipped } = readTemplates(files.filter(({ file }) => !DOCUMENT.test(file)))
    if (own.length + documents.length + skipped.length === 0)
      return failed(`${folder} has no .graphql or .gql file, and no template tagged gql or graphql`)
    return ok({ documents: [...own, ...documents], skipped })
  } catch (error) {
    if (error instanceof Error && 'syscall' in error)
      return failed(`${folder} cannot be read: ${error.message}`)
    throw error
  }
}

const DOCUMENT = /\.(?:graphql|gql)$/

/** The files of a folder that can contain documents, without packages and hidden folders such as build caches. */
async function listFiles(folder: string, below: string): Promise<string[]> {
  const entries = await readdir(join(folder, below), { withFileTypes: true })
  const lists = entries.map(async entry => {
    const path = below === '' ? entry.name : `${below}/${entry.name}`
    if (entry.isDirectory()) return isForeign(entry.name) ? [] : listFiles(folder, path)
    return DOCUMENT.test(path) || isModuleFile(path) ? [path] : []
  })
  return (await Promise.all(lists)).flat()
}

const isForeign = (name: string): boolean => name === 'node_modules' || name.startsWith('.')

/** Files whose code can contain documents. */
const isModuleFile = (name: string): boolean =>
  /\.(?:[cm]?[jt]s|[jt]sx|vue|svelte|astro)$/.test(name) && !/\.d\.[cm]?ts$/.test(name)

/**
 * The GraphQL documents in the code of a front-end: templates tagged `gql` or `graphql`, passed to a function of that
 * name, or marked with the comment GraphQL. Code is parsed and never run. An interpolated expression is resolved if it
 * names a document or a text of these files.
 */
function readTemplates(files: readonly DocumentFile[]): ClientDocuments {
  const skipped: SkippedDocument[] = []
  const modules = new Map<string, Module>()
  for (const each of files) {
    if (!/gql|graphql/i.test(each.text)) continue
    const found = readModule(each)
    if ('message' in found) skipped.push(found)
    else modules.set(each.file, found)
  }
  const documents: DocumentFile[] = []
  const known = new Map<ValueNode, string | undefined>()
  for (const module of modules.values())
    for (const template of module.documents) {
      const text = textOf(template, { module, modules, known })
      if (typeof text !== 'string') skipped.push({ file: module.file, ...positionOf(text), message: UNKNOWN })
      else documents.push({ file: module.file, text, offset: positionOf(template.quasis[0] ?? template) })
    }
  return { documents, skipped }
}

const UNKNOWN = 'this expression is no document or text of the folder'

type TemplateNode = Extract<ExpressionNode, { type: 'TemplateLiteral' }>
type DeclaratorNode = Extract<StatementNode, { type: 'VariableDeclaration' }>['declarations'][number]
type VisitedNode = ExpressionNode | StatementNode | PropertyNode | DeclaratorNode | ClassFieldNode
type ClassFieldNode = Extract<
  Extract<StatementNode, { type: 'ClassDeclaration' }>['body']['body'][number],
  { type: 'ClassProperty' }
>

interface Module {
  readonly file: string
  readonly documents: Set<TemplateNode>
  /** Everything that gets a name: variables, properties and fields. One name can have several values. */
  readonly values: Map<string, ValueNode[]>
  /** By the local name. */
  readonly imports: Map<string, { readonly from: string; readonly name: string }>
}

function readModule({ file, text }: DocumentFile): Module | SkippedDocument {
  try {
    const module: Module = { file, documents: new Set(), values: new Map(), imports: new Map() }
    collect(parse(file, text), module)
    return module
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    const { loc = { line: 1, column: 0 } } = error as { loc?: { line: number; column: number } }
    return {
      file,
      line: loc.line,
      column: loc.column + 1,
      message: `the code is not valid: ${error.message}`,
    }
  }
}

/** The scripts of components are TypeScript, some with JSX. */
function parse(file: string, text: string): ParsedModule {
  if (!/\.(?:vue|svelte|astro)$/.test(file)) return parseModule(text, file)
  const scripts = scriptsOf(text)
  try {
    return parseModule(scripts, `${file}.ts`)
  } catch (error) {
    if (error instanceof SyntaxError) return parseModule(scripts, `${file}.tsx`)
    throw error
  }
}

/** The text with everything but its scripts blank, so that places stay the same. */
function scriptsOf(text: string): string {
  const lower = text.toLowerCase()
  let scripts = ''
  const keep = (from: number, to: number) => {
    scripts += blank(text.slice(scripts.length, from)) + text.slice(from, to)
  }
  const frontMatter = /^\s*---\r?\n/.exec(text)?.[0].length
  const end = frontMatter === undefined ? -1 : text.indexOf('\n---', frontMatter - 1)
  if (frontMatter !== undefined && end >= frontMatter) keep(frontMatter, end)
  for (let at = lower.indexOf('<script'); at >= 0; at = lower.indexOf('<script', at)) {
    const from = lower.indexOf('>', at) + 1
    const to = lower.indexOf('</script', from)
    if (from === 0 || to < 0) break
    if (from >= scripts.length) keep(from, to)
    at = to
  }
  return scripts + blank(text.slice(scripts.length))
}

const blank = (text: string): string => text.replace(/[^\n]/g, ' ')

function collect({ source, body }: ParsedModule, module: Module): void {
  const pending: unknown[] = [...body].reverse()
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    if (!isObject(node)) continue
    if ('type' in node) visit(node as VisitedNode, source, module)
    for (const [key, value] of Object.entries(node).reverse())
      if (isObject(value) && key !== 'loc') pending.push(...[value].flat().reverse())
  }
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null

function visit(node: VisitedNode, source: string, module: Module): void {
  const document = documentOf(node)
  if (document) module.documents.add(document)
  if (node.type === 'TemplateLiteral' && isMarked(node, source)) module.documents.add(node)
  else if (node.type === 'ImportDeclaration') addImports(node, module)
  else if (node.type === 'ExportDefaultDeclaration') addValue(module, 'default', node.declaration)
  else if (node.type === 'VariableDeclarator' && node.id.type === 'Identifier')
    addValue(module, node.id.name, node.init)
  else if (node.type === 'AssignmentExpression') addValue(module, lastName(node.left), node.right)
  else if (node.type === 'ObjectProperty' || node.type === 'ClassProperty')
    addValue(module, lastName(node.key), node.value)
}

function addValue({ values }: Module, name: string | undefined, value: ValueNode | null | undefined): void {
  if (name === undefined || !value) return
  values.set(name, [...(values.get(name) ?? []), value])
}

function addImports(node: Extract<StatementNode, { type: 'ImportDeclaration' }>, { imports }: Module): void {
  for (const specifier of node.specifiers) {
    const imported = specifier.type === 'ImportSpecifier' ? specifier.imported : undefined
    const name = imported?.type === 'Identifier' ? imported.name : (imported?.value ?? 'default')
    imports.set(specifier.local.name, { from: node.source.value, name })
  }
}

/** The last name of `a.b.c`. */
const lastName = (node: { readonly type: string }): string | undefined => memberPath(node)?.split('.').at(-1)

const isTag = (node: { readonly type: string }): boolean => /^(?:gql|graphql)$/.test(lastName(node) ?? '')

/** gql`…`, and the template in `graphql(`…`)` */
function documentOf(node: VisitedNode | ValueNode): TemplateNode | undefined {
  if (node.type === 'TaggedTemplateExpression') return isTag(node.tag) ? node.quasi : undefined
  if (node.type !== 'CallExpression' || !isTag(node.callee)) return undefined
  const [text] = node.arguments
  return text?.type === 'TemplateLiteral' ? text : undefined
}

/** Is the comment GraphQL directly before the template? */
const isMarked = ({ start }: TemplateNode, source: string): boolean =>
  /\/\*\s{0,9}GraphQL\s{0,9}\*\/\s{0,9}$/i.test(source.slice(Math.max(0, (start ?? 0) - 50), start ?? 0))

interface Scope {
  readonly module: Module
  readonly modules: ReadonlyMap<string, Module>
  /** The text of each expression that was resolved. One that is being resolved has none, which ends cycles. */
  readonly known: Map<ValueNode, string | undefined>
}

type Unknown = TemplateNode['expressions'][number]

/** The text of a template, or the first expression that is not known. */
function textOf({ quasis, expressions }: TemplateNode, scope: Scope): string | Unknown {
  let text = ''
  for (const [at, { value }] of quasis.entries()) {
    text += value.cooked ?? value.raw
    const expression = expressions[at]
    if (!expression) continue
    const found = resolve(expression as ValueNode, scope)
    if (found === undefined) return expression
    text += found
  }
  return text
}

/** The text of an interpolated expression, on one line. It is empty for a document, which is checked separately. */
function resolve(expression: ValueNode, scope: Scope): string | undefined {
  const node = unwrapExpression(expression)
  if (!scope.known.has(node)) {
    scope.known.set(node, undefined)
    const text = textOfExpression(node, scope)
    scope.known.set(node, text === undefined || text.length > MAX_LENGTH ? undefined : onOneLine(text))
  }
  return scope.known.get(node)
}

/** Texts that contain each other can multiply. */
const MAX_LENGTH = 1_000_000

function textOfExpression(node: ValueNode, scope: Scope): string | undefined {
  if (node.type === 'StringLiteral' || node.type === 'NumericLiteral') return String(node.value)
  if (documentOf(node)) return ''
  if (node.type === 'TemplateLiteral') {
    const text = scope.module.documents.has(node) ? '' : textOf(node, scope)
    return typeof text === 'string' ? text : undefined
  }
  const path = memberPath(node)?.split('.')
  return path && resolveName(path, scope)
}

function resolveName(path: readonly string[], scope: Scope): string | undefined {
  const [root = '', name = root] = [path[0], path.at(-1)]
  const imported = scope.module.imports.get(root)
  if (!imported) return textOfName(name, [scope.module], scope)
  if (/\.(?:graphql|gql)$/.test(imported.from)) return ''
  const wanted = path.length === 1 ? imported.name : name
  const target = targetOf(imported.from, scope)
  // Re-exports, and paths such as `@/fragments`, are resolved by the name of what is imported.
  return (
    (target && textOfName(wanted, [target], scope)) ?? textOfName(wanted, [...scope.modules.values()], scope)
  )
}

/** The text of a name, if all modules that have it agree. */
function textOfName(name: string, places: readonly Module[], scope: Scope): string | undefined {
  const texts = new Set<string>()
  for (const module of places)
    for (const value of module.values.get(name) ?? []) {
      const text = resolve(value, { ...scope, module })
      if (text !== undefined) texts.add(text)
    }
  const [text] = texts
  return texts.size === 1 ? text : undefined
}

const ENDINGS = ['', ...['ts', 'tsx', 'js', 'jsx', 'mjs', 'cjs', 'mts', 'cts'].map(each => `.${each}`)]

/** The module of a relative path; `./a.js` can mean a.ts. */
function targetOf(from: string, { module, modules }: Scope): Module | undefined {
  if (!from.startsWith('.')) return undefined
  const path = posix.join(posix.dirname(module.file), from)
  for (const base of [path, path.replace(/\.[cm]?js$/, ''), posix.join(path, 'index')])
    for (const ending of ENDINGS) {
      const found = modules.get(base + ending)
      if (found) return found
    }
  return undefined
}

/** Comments would swallow what follows them on the line. */
const onOneLine = (text: string): string =>
  text
    .split('\n')
    .map(line => (line.includes('"') ? line : line.split('#', 1).join('')))
    .join(' ')

interface Located {
  readonly loc?: { readonly start: { readonly line: number; readonly column: number } } | null
}

const positionOf = ({ loc }: Located): { readonly line: number; readonly column: number } => ({
  line: loc?.start.line ?? 1,
  column: (loc?.start.column ?? 0) + 1,
})
