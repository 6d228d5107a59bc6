import { isFromEnvironment, isMapping, type LiteralValue, LocatedMapping } from './literal-value.ts'
import { type CallExpressionNode, memberPath, type PropertyNode, type ValueNode } from './parse-module.ts'

/** Evaluates a part of an expression, with the names that it can use. */
export type Evaluate = (node: ValueNode) => LiteralValue

/** null is a value, undefined is none. */
export function literalOf(node: ValueNode, inner: Evaluate): LiteralValue | undefined {
  switch (node.type) {
    case 'StringLiteral':
    case 'NumericLiteral':
    case 'BooleanLiteral':
      return node.value
    case 'NullLiteral':
      return null
    case 'TemplateLiteral': {
      const parts = node.expressions.map(each => inner(each as ValueNode))
      if (!parts.every(isWord)) return undefined
      return node.quasis.map(({ value }, index) => `${value.cooked ?? ''}${parts[index] ?? ''}`).join('')
    }
    case 'UnaryExpression': {
      const value = inner(node.argument)
      if (node.operator === '-') return typeof value === 'number' ? -value : undefined
      return node.operator === '!' && typeof value === 'boolean' ? !value : undefined
    }
    case 'BinaryExpression':
      return node.left.type === 'PrivateName'
        ? undefined
        : calculated(node.operator, inner(node.left), inner(node.right))
    default:
      return undefined
  }
}

export const isWord = (value: LiteralValue): value is string | number | boolean =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'

/** `10 * 1024 * 1024`, `'api/' + 'v1'` */
function calculated(operator: string, one: LiteralValue, two: LiteralValue): LiteralValue | undefined {
  if (operator === '+' && isWord(one) && isWord(two) && (typeof one === 'string' || typeof two === 'string'))
    return `${one}${two}`
  if (typeof one !== 'number' || typeof two !== 'number') return undefined
  const results: Readonly<Record<string, number>> = {
    '+': one + two,
    '-': one - two,
    '*': one * two,
    '/': one / two,
    '**': one ** two,
  }
  const result = results[operator]
  return result !== undefined && Number.isFinite(result) ? result : undefined
}

export function propertyKey({ key }: Exclude<PropertyNode, { type: 'SpreadElement' }>): string | undefined {
  if (key.type === 'Identifier') return key.name
  return key.type === 'StringLiteral' || key.type === 'NumericLiteral' ? String(key.value) : undefined
}

/** `env('NAME', fallback)`, `env.int('NAME', fallback)`, `env.oneOf('NAME', ['a', 'b'], fallback)`. */
export function toEnvironment(
  { callee, arguments: [name, ...more] }: CallExpressionNode,
  inner: Evaluate,
): LiteralValue | undefined {
  const [, method] = /^env(\.\w+)?$/.exec(memberPath(callee) ?? '') ?? [undefined, null]
  const key = method === null || name === undefined ? undefined : inner(name)
  if (typeof key !== 'string') return undefined
  const fallback = method === '.oneOf' ? more[1] : more[0]
  return { kind: 'environment', name: key, ...(fallback && { fallback: inner(fallback) }) }
}

/** `process.env.NAME` */
export function toVariable(node: ValueNode): LiteralValue | undefined {
  const [, name] = /^process\.env\.([^.]+)$/.exec(memberPath(node) ?? '') ?? []
  return name === undefined ? undefined : { kind: 'environment', name }
}

const CONVERSIONS =
  /^(?:Number|String|Boolean|parseInt|parseFloat|Number\.parseInt|Number\.parseFloat|Object\.freeze|defineConfig)$/

/** Calls whose result is their argument, and `Object.assign`. */
export function builtInCall(
  { callee, arguments: declared }: CallExpressionNode,
  inner: Evaluate,
): LiteralValue | undefined {
  const name = memberPath(callee) ?? ''
  const values = () => declared.map(inner)
  if (name === 'Object.assign') {
    const mapping = new LocatedMapping()
    const all = values()
    if (!all.every(isMapping)) return undefined
    for (const each of all) mapping.putAll(each)
    return mapping
  }
  const [value] = CONVERSIONS.test(name) ? values() : []
  if (isFromEnvironment(value) || isMapping(value)) return value
  if (typeof value !== 'string' || !/^(?:Number|parse)/.test(name)) return value
  return Number.isFinite(Number(value)) ? Number(value) : undefined
}
