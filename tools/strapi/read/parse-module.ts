import { parse } from '@babel/parser'

/** A parsed JavaScript or TypeScript module. */
export interface ParsedModule {
  readonly source: string
  readonly body: readonly StatementNode[]
}

export type StatementNode = ReturnType<typeof parse>['program']['body'][number]
export type ExpressionNode = Extract<StatementNode, { type: 'ExpressionStatement' }>['expression']
export type FunctionNode = Extract<
  StatementNode | ExpressionNode,
  { type: 'FunctionDeclaration' | 'FunctionExpression' | 'ArrowFunctionExpression' }
>
export type CallExpressionNode = Extract<ExpressionNode, { type: 'CallExpression' }>
type ObjectNode = Extract<ExpressionNode, { type: 'ObjectExpression' }>
export type PropertyNode = ObjectNode['properties'][number]

/** Anything that can occur where a value is expected. */
export type ValueNode =
  | ExpressionNode
  | FunctionNode
  | CallExpressionNode['arguments'][number]
  | Extract<PropertyNode, { type: 'ObjectProperty' }>['value']
  | Extract<StatementNode, { type: 'ExportDefaultDeclaration' }>['declaration']

/**
 * Parses a module without running it. `file` decides by its extension whether `<x>` is JSX or a type assertion.
 * Minor errors are ignored. Throws SyntaxError, with line and column, for text that is not a module.
 */
export function parseModule(source: string, file: string): ParsedModule {
  const isJsx = !/\.[cm]?ts$/.test(file)
  try {
    const { program } = parse(source, {
      sourceType: 'unambiguous',
      errorRecovery: true,
      attachComment: false,
      allowReturnOutsideFunction: true,
      plugins: isJsx ? ['typescript', 'jsx'] : ['typescript'],
    })
    return { source, body: program.body }
  } catch (error) {
    // The parser is recursive: text such as 20,000 opening brackets exhausts the call stack.
    if (error instanceof RangeError) throw new SyntaxError('the module nests too deeply', { cause: error })
    throw error
  }
}

/** The value that a module exports: `export default`, `export =`, `module.exports =` or `exports.default =`; the last one wins. */
export function exportedValue({ body }: ParsedModule): ValueNode | undefined {
  return body.map(valueExportedBy).findLast(node => node !== undefined)
}

function valueExportedBy(statement: StatementNode): ValueNode | undefined {
  if (statement.type === 'ExportDefaultDeclaration') return statement.declaration
  if (statement.type === 'TSExportAssignment') return statement.expression
  if (statement.type === 'ExportNamedDeclaration') return defaultSpecifier(statement)
  if (statement.type !== 'ExpressionStatement') return undefined
  const { expression } = statement
  if (expression.type !== 'AssignmentExpression' || expression.operator !== '=') return undefined
  const target = memberPath(expression.left)
  return target === 'module.exports' || target === 'exports.default' ? expression.right : undefined
}

/** `export { config as default }` */
function defaultSpecifier({
  specifiers,
  source,
}: Extract<StatementNode, { type: 'ExportNamedDeclaration' }>): ValueNode | undefined {
  if (source) return undefined
  for (const specifier of specifiers) {
    if (specifier.type !== 'ExportSpecifier') continue
    const { exported, local } = specifier
    if (exported.type === 'Identifier' && exported.name === 'default') return local
  }
  return undefined
}

/** `a.b.c` for a chain of names; undefined for any other node. */
export function memberPath(node: { readonly type: string }): string | undefined {
  const chain = node as ExpressionNode
  if (chain.type === 'Identifier') return chain.name
  if (chain.type !== 'MemberExpression') return undefined
  const key = propertyName(chain)
  const owner = key === undefined ? undefined : memberPath(chain.object)
  return owner === undefined ? undefined : `${owner}.${key}`
}

function propertyName({
  property,
  computed,
}: Extract<ExpressionNode, { type: 'MemberExpression' }>): string | undefined {
  if (property.type === 'StringLiteral') return property.value
  return !computed && property.type === 'Identifier' ? property.name : undefined
}

/** Removes syntax that does not change the value: parentheses, `as`, `satisfies`, `!` and type assertions. */
export function unwrapExpression(node: ValueNode): ValueNode {
  let inner = node
  while (
    inner.type === 'TSAsExpression' ||
    inner.type === 'TSSatisfiesExpression' ||
    inner.type === 'TSNonNullExpression' ||
    inner.type === 'TSTypeAssertion' ||
    inner.type === 'ParenthesizedExpression'
  )
    inner = inner.expression
  return inner
}

/** The initial value of a variable, or the function of this name, among the statements. */
export function declarationOf(name: string, body: readonly StatementNode[]): ValueNode | undefined {
  for (const statement of body) {
    if (statement.type === 'FunctionDeclaration' && statement.id?.name === name) return statement
    if (statement.type !== 'VariableDeclaration') continue
    const found = statement.declarations.find(({ id }) => id.type === 'Identifier' && id.name === name)
    if (found?.init) return found.init
  }
  return undefined
}

export const isFunction = (node: ValueNode): node is FunctionNode =>
  node.type === 'FunctionDeclaration' ||
  node.type === 'FunctionExpression' ||
  node.type === 'ArrowFunctionExpression'

/** All calls in a module, in source order of their start. */
export function callsIn({ body }: ParsedModule): readonly CallExpressionNode[] {
  const calls: CallExpressionNode[] = []
  const pending: unknown[] = [...body].reverse()
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    if (typeof node !== 'object' || node === null) continue
    if (isCall(node)) calls.push(node)
    pending.push(...Object.values(node).flat().reverse().filter(isObject))
  }
  return calls
}

const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null

const isCall = (node: object): node is CallExpressionNode => 'type' in node && node.type === 'CallExpression'
