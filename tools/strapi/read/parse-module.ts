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

/** The value that a module assigns to `module.exports`, also by `export =`; the last one wins. */
export const commonExport = ({ body }: ParsedModule): ValueNode | undefined =>
  body.map(valueAssigned('module.exports')).findLast(node => node !== undefined)

/** The value of `<target> = …`, and for `module.exports` of `export = …`. */
export const valueAssigned =
  (target: string) =>
  (statement: StatementNode): ValueNode | undefined => {
    if (statement.type === 'TSExportAssignment')
      return target === 'module.exports' ? statement.expression : undefined
    if (statement.type !== 'ExpressionStatement') return undefined
    const { expression } = statement
    const isAssignment = expression.type === 'AssignmentExpression' && expression.operator === '='
    return isAssignment && memberPath(expression.left) === target ? expression.right : undefined
  }

/** `name` and `"name"` of import and export specifiers. */
export const specifierName = (node: {
  readonly type: string
  readonly name?: unknown
  readonly value?: unknown
}): string => String(node.type === 'Identifier' ? node.name : node.value)

/** `a.b.c` for a chain of names; undefined for any other node. */
export function memberPath(node: { readonly type: string }): string | undefined {
  const chain = node as ExpressionNode
  if (chain.type === 'Identifier') return chain.name
  if (chain.type !== 'MemberExpression') return undefined
  const key = propertyName(chain)
  const owner = key === undefined ? undefined : memberPath(chain.object)
  return owner === undefined ? undefined : `${owner}.${key}`
}

/** The name in `object.name` and `object['name']`. */
export function propertyName({
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

export const isFunction = (node: ValueNode): node is FunctionNode =>
  node.type === 'FunctionDeclaration' ||
  node.type === 'FunctionExpression' ||
  node.type === 'ArrowFunctionExpression'

/** All nodes below others, in source order of their start. Children of a node that `enters` refuses are left out. */
export function* nodesIn(
  roots: readonly unknown[],
  enters: (node: AnyNode) => boolean = () => true,
): Generator<AnyNode> {
  const pending: unknown[] = [...roots].reverse()
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    if (!isObject(node)) continue
    if (isNode(node)) {
      yield node
      if (!enters(node)) continue
    }
    pending.push(...Object.values(node).flat().reverse().filter(isObject))
  }
}

export type AnyNode = StatementNode | ExpressionNode | FunctionNode

/** All calls in a module. */
export const callsIn = ({ body }: ParsedModule): readonly CallExpressionNode[] =>
  [...nodesIn(body)].filter(node => node.type === 'CallExpression')

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null

const isNode = (value: object): value is AnyNode => 'type' in value
