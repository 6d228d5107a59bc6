import { EMPTY_MAPPING, isFromEnvironment, type LiteralValue } from './literal-value.ts'
import {
  type CallExpressionNode,
  declarationOf,
  exportedValue,
  isFunction,
  memberPath,
  type PropertyNode,
  parseModule,
  type StatementNode,
  unwrapExpression,
  type ValueNode,
} from './parse-module.ts'

/**
 * The value that a JavaScript or TypeScript module exports, without running it. If it exports a function of `{ env }`,
 * the value that the function returns. An empty mapping if it exports nothing. Throws SyntaxError if it cannot be parsed.
 */
export function readExported(source: string, file: string): LiteralValue {
  const module = parseModule(source, file)
  const exported = exportedValue(module)
  return exported === undefined ? EMPTY_MAPPING : followValue(exported, { source, scopes: [module.body] })
}

interface Scope {
  readonly source: string
  /** The statements of the enclosing functions and of the module, innermost first. */
  readonly scopes: readonly (readonly StatementNode[])[]
}

/** Limits how many names and functions are followed: `const a = b, b = a` would never end. */
const MAX_STEPS = 5

/** Follows names to their declarations and functions to their results. */
function followValue(start: ValueNode, scope: Scope, steps = 0): LiteralValue {
  const node = unwrapExpression(start)
  if (steps <= MAX_STEPS) {
    if (isFunction(node)) {
      const body = node.body.type === 'BlockStatement' ? node.body.body : []
      const result = node.body.type === 'BlockStatement' ? lastReturn(body) : node.body
      const inner = { ...scope, scopes: [body, ...scope.scopes] }
      if (result) return followValue(result, inner, steps + 1)
    }
    const declared = node.type === 'Identifier' && findDeclaration(node.name, scope)
    if (declared) return followValue(declared, scope, steps + 1)
  }
  return evaluateLiteral(node, scope.source)
}

function findDeclaration(name: string, { scopes }: Scope): ValueNode | undefined {
  for (const body of scopes) {
    const declared = declarationOf(name, body)
    if (declared !== undefined) return declared
  }
  return undefined
}

/** The last `return` of a function itself; one inside of a condition may not be reached. */
function lastReturn(body: readonly StatementNode[]): ValueNode | undefined {
  const statement = body.findLast(each => each.type === 'ReturnStatement')
  return statement?.argument ?? undefined
}

/** Deeper nesting than any project has, and far below the limit of the call stack. */
const MAX_DEPTH = 200

/** Literals become values, `env()` and `process.env` variables; anything else is code. */
export function evaluateLiteral(start: ValueNode, source: string, depth = 0): LiteralValue {
  const node = unwrapExpression(start)
  const code: LiteralValue = { kind: 'code', text: source.slice(node.start ?? 0, node.end ?? 0) }
  if (depth > MAX_DEPTH) return code
  const inner = (each: ValueNode): LiteralValue => evaluateLiteral(each, source, depth + 1)
  switch (node.type) {
    case 'StringLiteral':
    case 'NumericLiteral':
    case 'BooleanLiteral':
      return node.value
    case 'NullLiteral':
      return null
    case 'Identifier':
      return node.name === 'undefined' ? null : code
    case 'TemplateLiteral':
      return node.expressions.length === 0 ? (node.quasis[0]?.value.cooked ?? code) : code
    case 'UnaryExpression':
      return node.operator === '-' && node.argument.type === 'NumericLiteral' ? -node.argument.value : code
    case 'ArrayExpression':
      return node.elements.map(each => (each === null ? null : inner(each)))
    case 'ObjectExpression':
      return toMapping(node.properties, inner, source)
    case 'CallExpression':
      return toEnvironment(node, inner) ?? code
    case 'MemberExpression':
      return toVariable(node) ?? code
    case 'LogicalExpression': {
      const left = node.operator === '&&' ? code : inner(node.left)
      return isFromEnvironment(left) ? { ...left, fallback: inner(node.right) } : code
    }
    default:
      return code
  }
}

/** Spreads and computed keys are left out: which keys they add is known only at run time. */
function toMapping(
  properties: readonly PropertyNode[],
  inner: (node: ValueNode) => LiteralValue,
  source: string,
): LiteralValue {
  const mapping = new Map<string, LiteralValue>()
  for (const property of properties) {
    if (property.type === 'SpreadElement' || property.computed) continue
    const key = propertyKey(property)
    const text = source.slice(property.start ?? 0, property.end ?? 0)
    if (key !== undefined)
      mapping.set(key, property.type === 'ObjectMethod' ? { kind: 'code', text } : inner(property.value))
  }
  return mapping
}

export function propertyKey({ key }: Exclude<PropertyNode, { type: 'SpreadElement' }>): string | undefined {
  if (key.type === 'Identifier') return key.name
  return key.type === 'StringLiteral' || key.type === 'NumericLiteral' ? String(key.value) : undefined
}

/** `env('NAME', fallback)`, `env.int('NAME', fallback)` and the like. */
function toEnvironment(
  { callee, arguments: [name, fallback] }: CallExpressionNode,
  inner: (node: ValueNode) => LiteralValue,
): LiteralValue | undefined {
  if (!/^env(\.\w+)?$/.test(memberPath(callee) ?? '') || name?.type !== 'StringLiteral') return undefined
  return { kind: 'environment', name: name.value, ...(fallback && { fallback: inner(fallback) }) }
}

/** `process.env.NAME` */
function toVariable(node: ValueNode): LiteralValue | undefined {
  const [, name] = /^process\.env\.([^.]+)$/.exec(memberPath(node) ?? '') ?? []
  return name === undefined ? undefined : { kind: 'environment', name }
}
