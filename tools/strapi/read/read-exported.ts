import {
  builtInCall,
  type Evaluate,
  isWord,
  literalOf,
  propertyKey,
  toEnvironment,
  toVariable,
} from './literal-expression.ts'
import {
  EMPTY_MAPPING,
  isCode,
  isFromEnvironment,
  isLiteralList,
  isMapping,
  type LiteralValue,
  LocatedMapping,
  UNKNOWN_KEYS,
  valueAt,
} from './literal-value.ts'
import {
  type Binding,
  bindingOf,
  calledScope,
  exportedNames,
  exportOf,
  followFunction,
  moduleScope,
  requiredModule,
  type Scope,
  type ScopedModule,
  type ScriptNode,
} from './module-scope.ts'
import {
  type AnyNode,
  type CallExpressionNode,
  commonExport,
  isFunction,
  memberPath,
  nodesIn,
  type PropertyNode,
  propertyName,
  unwrapExpression,
  type ValueNode,
} from './parse-module.ts'

/**
 * The value that a module exports, without running it: literals, names, imports of other modules of the project. If it
 * exports a function of `{ env }`, the value that the function returns. An empty mapping if it exports nothing.
 */
export function readExported(module: ScopedModule): LiteralValue {
  const reading: Reading = { left: MAX_NODES }
  const exported = exportOf(module, 'default')
  if (exported === undefined)
    return exportedNames(module).length === 0 ? EMPTY_MAPPING : namespaceOf(module, reading, 0)
  const called = exported.kind === 'node' ? followFunction(exported) : undefined
  const progress = { reading, depth: 0 }
  const value = called ? resultOf(called, [], progress) : valueOfBinding(exported, progress)
  if (value === undefined) return EMPTY_MAPPING
  return commonExport(module)
    ? withAssignments(value, 'module.exports', { scope: moduleScope(module), ...progress })
    : value
}

/** The value of an expression. */
export const evaluateLiteral = (node: ValueNode, module: ScopedModule): LiteralValue =>
  evaluated({ node, scope: moduleScope(module) }, { reading: { left: MAX_NODES }, depth: 0 })

/** The number of nodes that may still be evaluated: names that refer to one another could multiply without end. */
interface Reading {
  left: number
}

/** More than any project has. */
const MAX_NODES = 200_000
/** Deeper than any project is, and far below the limit of the call stack. */
const MAX_DEPTH = 200

interface Progress {
  readonly reading: Reading
  readonly depth: number
}

type NodePlace = { readonly [Key in 'start' | 'end' | 'loc']?: PropertyNode[Key] | undefined }

const codeOf = ({ node, scope }: { readonly node: NodePlace; readonly scope: Scope }): LiteralValue => ({
  kind: 'code',
  text: scope.module.source.slice(node.start ?? 0, node.end ?? 0),
  place: placeOf(node, scope) ?? scope.module.file,
})

const placeOf = (
  { loc }: { readonly loc?: AnyNode['loc'] | undefined },
  { module }: Scope,
): string | undefined => (loc ? `${module.file}:${loc.start.line}` : undefined)

/** Literals become values, `env()` and `process.env` variables; names are followed; anything else is code. */
function evaluated(at: ScriptNode, { reading, depth }: Progress): LiteralValue {
  const node = unwrapExpression(at.node)
  const located = { node, scope: at.scope }
  reading.left -= 1
  if (depth > MAX_DEPTH || reading.left < 0) return codeOf(located)
  const progress = { reading, depth: depth + 1 }
  const inner: Evaluate = each => evaluated({ node: each, scope: at.scope }, progress)
  const literal = literalOf(node, inner)
  if (literal !== undefined) return literal
  const structure = structureOf(located, inner)
  if (structure !== undefined) return structure
  const value = followed(located, inner, progress)
  return value === undefined ? codeOf(located) : value
}

function structureOf({ node, scope }: ScriptNode, inner: Evaluate): LiteralValue | undefined {
  switch (node.type) {
    case 'ArrayExpression':
      return node.elements.flatMap((each): readonly LiteralValue[] => {
        if (each?.type !== 'SpreadElement') return [each === null ? null : inner(each)]
        const spread = inner(each.argument)
        return isLiteralList(spread) ? spread : [codeOf({ node: each, scope })]
      })
    case 'ObjectExpression':
      return toMapping(node.properties, inner, scope)
    case 'LogicalExpression': {
      const left = inner(node.left)
      if (isFromEnvironment(left))
        return node.operator === '&&'
          ? undefined
          : { ...left, fallback: withFallback(left.fallback, inner(node.right)) }
      const isTaken = node.operator === '??' ? left !== null : Boolean(left) === (node.operator === '||')
      return isCode(left) ? undefined : isTaken ? left : inner(node.right)
    }
    default:
      return undefined
  }
}

/** `env('A', 1) || 2` */
const withFallback = (first: LiteralValue | undefined, second: LiteralValue): LiteralValue =>
  isFromEnvironment(first)
    ? { ...first, fallback: withFallback(first.fallback, second) }
    : first === undefined || first === null || first === '' || first === false
      ? second
      : first

/** Entries whose keys are known only at run time get keys that begin with `...`. */
function toMapping(properties: readonly PropertyNode[], inner: Evaluate, scope: Scope): LiteralValue {
  const mapping = new LocatedMapping()
  for (const property of properties) {
    const spread = property.type === 'SpreadElement' ? inner(property.argument) : undefined
    if (isMapping(spread)) mapping.putAll(spread)
    else if (spread !== null && spread !== false) putProperty(mapping, property, { inner, scope })
  }
  return mapping
}

interface PropertyOptions {
  readonly inner: Evaluate
  readonly scope: Scope
}

function putProperty(
  mapping: LocatedMapping,
  property: PropertyNode,
  { inner, scope }: PropertyOptions,
): void {
  const key = property.type === 'SpreadElement' ? undefined : keyOf(property, inner)
  const value =
    property.type === 'ObjectProperty' && key !== undefined
      ? inner(property.value)
      : codeOf({ node: property, scope })
  mapping.put(key ?? unknownKey(property, scope), value, placeOf(property, scope))
}

function keyOf(
  property: Exclude<PropertyNode, { type: 'SpreadElement' }>,
  inner: Evaluate,
): string | undefined {
  if (!property.computed) return propertyKey(property)
  const key = inner(property.key as ValueNode)
  return isWord(key) ? String(key) : undefined
}

const unknownKey = (node: PropertyNode, { module }: Scope): string =>
  `${UNKNOWN_KEYS}${module.source.slice(node.start ?? 0, node.end ?? 0)}`

/** Names, members and calls. */
function followed(
  { node, scope }: ScriptNode,
  inner: Evaluate,
  progress: Progress,
): LiteralValue | undefined {
  if (node.type === 'Identifier') {
    if (node.name === 'undefined') return null
    const binding = bindingOf(node.name, scope)
    return binding && valueOfBinding(binding, progress)
  }
  if (node.type === 'MemberExpression') return toVariable(node) ?? memberOf(node, scope, inner, progress)
  if (node.type !== 'CallExpression') return undefined
  const required = requiredModule(node, scope)
  if (required)
    return commonExport(required)
      ? moduleValue(required, progress)
      : namespaceOf(required, progress.reading, progress.depth)
  return toEnvironment(node, inner) ?? builtInCall(node, inner) ?? calledValue(node, scope, progress)
}

function memberOf(
  node: Extract<ValueNode, { type: 'MemberExpression' }>,
  scope: Scope,
  inner: Evaluate,
  progress: Progress,
): LiteralValue | undefined {
  const key =
    propertyName(node) ??
    (node.computed && node.property.type === 'NumericLiteral' ? String(node.property.value) : undefined)
  if (key === undefined) return undefined
  const owner = node.object.type === 'Identifier' ? bindingOf(node.object.name, scope) : undefined
  const module = owner?.kind === 'namespace' ? owner.of : requiredModule(node.object, scope)
  if (module) {
    const exported = exportOf(module, key)
    return exported && valueOfBinding(exported, progress)
  }
  const value = inner(node.object)
  return isLiteralList(value) ? value[Number(key)] : valueAt(value, key)
}

function moduleValue(module: ScopedModule, progress: Progress): LiteralValue | undefined {
  const exported = exportOf(module, 'default')
  const value = exported && valueOfBinding(exported, progress)
  return value === undefined
    ? undefined
    : withAssignments(value, 'module.exports', { scope: moduleScope(module), ...progress })
}

function namespaceOf(module: ScopedModule, reading: Reading, depth: number): LiteralValue {
  const mapping = new LocatedMapping()
  for (const name of new Set([...exportedNames(module), 'default'])) {
    const exported = exportOf(module, name)
    const value = exported && valueOfBinding(exported, { reading, depth: depth + 1 })
    if (value !== undefined) mapping.put(name, value, undefined)
  }
  return mapping
}

function valueOfBinding(binding: Binding, progress: Progress): LiteralValue | undefined {
  if (binding.kind === 'namespace') return namespaceOf(binding.of, progress.reading, progress.depth)
  if (binding.kind === 'node') {
    const value = evaluated(binding, progress)
    return binding.name === undefined
      ? value
      : withAssignments(value, binding.name, { scope: binding.scope, ...progress })
  }
  const { of, key, fallback } = binding
  const isProcess = of.kind === 'node' && memberPath(of.node) === 'process.env'
  if (isProcess)
    return { kind: 'environment', name: key, ...(fallback && { fallback: evaluated(fallback, progress) }) }
  const owner = valueOfBinding(of, progress)
  return valueAt(owner, key) ?? (fallback ? evaluated(fallback, progress) : isCode(owner) ? owner : undefined)
}

interface Assigning extends Progress {
  readonly scope: Scope
}

/** The value after statements such as `config.port = 1337`; in conditions they make it code. */
function withAssignments(value: LiteralValue, name: string, { scope, ...progress }: Assigning): LiteralValue {
  if (!isMapping(value)) return value
  let changed: LiteralValue = value
  for (const statement of scope.body) {
    if (isFunction(statement as ValueNode)) continue
    const top = statement.type === 'ExpressionStatement' ? statement.expression : undefined
    for (const node of nodesIn([statement], each => !isFunction(each as ValueNode))) {
      if (node.type !== 'AssignmentExpression') continue
      const path = memberPath(node.left)
      if (!path?.startsWith(`${name}.`)) continue
      const isPlain = node === top && node.operator === '='
      const assigned = isPlain ? evaluated({ node: node.right, scope }, progress) : codeOf({ node, scope })
      changed = withValue(changed, path.slice(name.length + 1).split('.'), {
        value: assigned,
        place: placeOf(node, scope),
      })
    }
  }
  return changed
}

interface Assigned {
  readonly value: LiteralValue
  readonly place: string | undefined
}

function withValue(
  owner: LiteralValue | undefined,
  [key, ...rest]: readonly string[],
  assigned: Assigned,
): LiteralValue {
  if (key === undefined) return assigned.value
  const mapping = new LocatedMapping()
  if (isMapping(owner)) mapping.putAll(owner)
  mapping.put(key, withValue(valueAt(owner, key), rest, assigned), assigned.place)
  return mapping
}

/** The result of a function of the project: `limits(env)`. */
function calledValue(
  { callee, arguments: declared }: CallExpressionNode,
  scope: Scope,
  progress: Progress,
): LiteralValue | undefined {
  const called = followFunction({ node: callee as ValueNode, scope })
  return (
    called &&
    resultOf(
      called,
      declared.map(node => ({ node, scope })),
      progress,
    )
  )
}

function resultOf(called: ScriptNode, declared: readonly ScriptNode[], progress: Progress): LiteralValue {
  const node = unwrapExpression(called.node)
  const scope = calledScope({ node, scope: called.scope }, declared)
  if (!isFunction(node) || progress.depth > MAX_DEPTH) return codeOf(called)
  const inner = { ...progress, depth: progress.depth + 1 }
  if (node.body.type !== 'BlockStatement') {
    const nested = followFunction({ node: node.body, scope })
    return nested ? resultOf(nested, [], inner) : evaluated({ node: node.body, scope }, inner)
  }
  const returns = [...nodesIn(node.body.body, each => !isFunction(each as ValueNode))].filter(
    each => each.type === 'ReturnStatement',
  )
  const last = node.body.body.findLast(each => each.type === 'ReturnStatement')
  if (!last?.argument) return codeOf(called)
  const value = evaluated({ node: last.argument, scope }, inner)
  const conditional = returns.find(each => each !== last)
  if (!conditional) return value
  if (!isMapping(value)) return codeOf({ node: conditional, scope })
  const mapping = new LocatedMapping()
  mapping.putAll(value)
  mapping.put(
    `${UNKNOWN_KEYS}${conditional.start}`,
    codeOf({ node: conditional, scope }),
    placeOf(conditional, scope),
  )
  return mapping
}
