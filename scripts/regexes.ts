import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'

/** A regular expression of the product's code. */
export interface FoundRegex {
  /** `core/media/detect-mime.ts:45` */
  readonly place: string
  readonly file: string
  /** null: the expression is put together when the program runs. */
  readonly pattern: { readonly source: string; readonly flags: string } | null
  /** As the code has it. */
  readonly code: string
}

/** What is delivered: every folder whose code may see what a client sends. */
const FOLDERS = ['core', 'tools', 'extensions', 'middlewares', 'policies', 'bin']

const ROOT = join(import.meta.dirname, '..')

export const findRegexes = (): readonly FoundRegex[] => FOLDERS.flatMap(filesOf).flatMap(regexesOf)

const filesOf = (folder: string): readonly string[] =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter(path => /\.[cm]?[jt]s$/.test(path) && !path.endsWith('.d.ts'))
    .map(path => `${folder}/${path}`)
    .toSorted()

function regexesOf(file: string): readonly FoundRegex[] {
  const text = readFileSync(join(ROOT, file), 'utf8')
  const tree = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true)
  const found: FoundRegex[] = []
  const visit = (node: ts.Node): void => {
    const pattern = patternOf(node, tree)
    if (pattern !== undefined) {
      const line = tree.getLineAndCharacterOfPosition(node.getStart()).line + 1
      found.push({ place: `${file}:${line}`, file, pattern, code: node.getText() })
    }
    ts.forEachChild(node, visit)
  }
  visit(tree)
  return found
}

/** undefined: the node is no regular expression. */
function patternOf(node: ts.Node, tree: ts.SourceFile): FoundRegex['pattern'] | undefined {
  if (ts.isRegularExpressionLiteral(node)) {
    const end = node.text.lastIndexOf('/')
    return { source: node.text.slice(1, end), flags: node.text.slice(end + 1) }
  }
  if (!ts.isNewExpression(node) && !ts.isCallExpression(node)) return undefined
  if (node.expression.getText() !== 'RegExp') return undefined
  const [source, flags] = node.arguments ?? []
  const text = source && constantOf(source, tree)
  const letters = flags ? constantOf(flags, tree) : ''
  return text === undefined || letters === undefined ? null : { source: text, flags: letters }
}

/** The text that an expression of literals and constants of the same file comes to; undefined for all others. */
function constantOf(node: ts.Expression, tree: ts.SourceFile): string | undefined {
  if (ts.isStringLiteralLike(node)) return node.text
  if (ts.isIdentifier(node)) {
    const declared = declarationOf(node.text, tree)
    return declared && constantOf(declared, tree)
  }
  if (!ts.isTemplateExpression(node)) return undefined
  let text = node.head.text
  for (const { expression, literal } of node.templateSpans) {
    const part = constantOf(expression, tree)
    if (part === undefined) return undefined
    text += part + literal.text
  }
  return text
}

function declarationOf(name: string, tree: ts.SourceFile): ts.Expression | undefined {
  for (const statement of tree.statements) {
    if (!ts.isVariableStatement(statement)) continue
    for (const { name: declared, initializer } of statement.declarationList.declarations)
      if (ts.isIdentifier(declared) && declared.text === name) return initializer
  }
  return undefined
}
