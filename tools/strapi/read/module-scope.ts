import { existsSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import {
  type AnyNode,
  callsIn,
  commonExport,
  isFunction,
  memberPath,
  nodesIn,
  type ParsedModule,
  type PropertyNode,
  parseModule,
  type StatementNode,
  specifierName,
  unwrapExpression,
  type ValueNode,
  valueAssigned,
} from './parse-module.ts'

/** A parsed module with its file, so that its imports can be resolved. */
export interface ScopedModule extends ParsedModule {
  /** Relative to the project's folder, with `/` between parts. */
  readonly file: string
  readonly folder: string
  readonly load: ScriptLoader
}

/** Loads a module by its file, relative to the folder of the project. Throws SyntaxError if it cannot be parsed. */
export type ScriptLoader = (file: string) => ScopedModule

/** Reads each module of a project once. */
export function moduleLoader(folder: string): ScriptLoader {
  const loaded = new Map<string, ScopedModule>()
  const load: ScriptLoader = file => {
    const known = loaded.get(file)
    if (known !== undefined) return known
    const text = readFileSync(join(folder, file), 'utf8').replace(/^\uFEFF/, '')
    // JSON is parsed as an expression, which gives its keys positions.
    const source = file.endsWith('.json') ? `module.exports = (${text}\n)` : text
    const module = { ...parseModule(source, file), file, folder, load }
    loaded.set(file, module)
    return module
  }
  return load
}

const ENDINGS = ['', '.ts', '.js', '.json', '.mjs', '.cjs', '.mts', '.cts']
const CANDIDATES = [...ENDINGS, ...ENDINGS.slice(1).map(ending => `/index${ending}`)]

/** The module of a relative path; undefined for packages, missing files and files that cannot be parsed. */
function importedModule({ file, folder, load }: ScopedModule, specifier: string): ScopedModule | undefined {
  if (!/^\.{1,2}(?:\/|$)/.test(specifier)) return undefined
  const path = join(folder, dirname(file), specifier)
  const compiled = path.replace(/\.([cm]?)js$/, '.$1ts')
  const found = [...CANDIDATES.map(ending => `${path}${ending}`), compiled].find(
    each => existsSync(each) && statSync(each).isFile(),
  )
  if (found === undefined || !/\.(?:[cm]?[jt]s|json)$/.test(found)) return undefined
  try {
    return load(relative(folder, found).split(sep).join('/'))
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

/** The names that an expression can use. */
export interface Scope {
  readonly module: ScopedModule
  /** The statements of a function or of the module. */
  readonly body: readonly StatementNode[]
  /** The arguments of a call. */
  readonly bound: ReadonlyMap<string, Binding>
  readonly outer: Scope | null
}

/** An expression with the names that it can use. */
export interface ScriptNode {
  readonly node: ValueNode
  readonly scope: Scope
}

/** What a name refers to. */
export type Binding =
  /** An expression. `name`: `config` in `const config = {}`, which later statements may change. */
  | (ScriptNode & { readonly kind: 'node'; readonly name?: string })
  /** A property of a destructured value, such as `{ limits = {} }`. */
  | {
      readonly kind: 'property'
      readonly of: Binding
      readonly key: string
      readonly fallback?: ScriptNode | undefined
    }
  /** `import * as limits`: all exports of a module. */
  | { readonly kind: 'namespace'; readonly of: ScopedModule }

export const moduleScope = (module: ScopedModule): Scope => ({
  module,
  body: module.body,
  bound: new Map(),
  outer: null,
})

type Seen = readonly ScopedModule[]

/** What a name refers to in a scope; undefined: it is not declared. `seen`: modules already visited, which may import one another. */
export function bindingOf(name: string, scope: Scope, seen: Seen = []): Binding | undefined {
  for (let inner: Scope | null = scope; inner !== null; inner = inner.outer) {
    const found = inner.bound.get(name) ?? declaredIn(name, inner, seen)
    if (found !== undefined) return found
  }
  return undefined
}

function declaredIn(name: string, scope: Scope, seen: Seen): Binding | undefined {
  for (const statement of scope.body) {
    const found =
      statement.type === 'ImportDeclaration'
        ? importedBy(statement, name, { scope, seen })
        : declaredBy(statement, name, scope)
    if (found !== undefined) return found
  }
  return undefined
}

function declaredBy(statement: StatementNode, name: string, scope: Scope): Binding | undefined {
  const declaration = statement.type === 'ExportNamedDeclaration' ? statement.declaration : statement
  if (declaration?.type === 'FunctionDeclaration' && declaration.id?.name === name)
    return { kind: 'node', node: declaration, scope }
  if (declaration?.type !== 'VariableDeclaration') return undefined
  for (const { id, init } of declaration.declarations) {
    if (!init) continue
    const found = bindPattern(
      id,
      { kind: 'node', node: init, scope, ...(id.type === 'Identifier' && { name }) },
      name,
    )
    if (found !== undefined) return found
  }
  return undefined
}

/** What a name in a pattern is bound to: `limits`, `{ limits }`, `{ limits: { max = 1 } }`. */
function bindPattern(
  pattern: AnyNode | { readonly type: string },
  value: Binding,
  name: string,
): Binding | undefined {
  const node = pattern as ValueNode | Extract<PropertyNode, { type: 'ObjectProperty' }>['value']
  if (node.type === 'Identifier') return node.name === name ? value : undefined
  if (node.type !== 'ObjectPattern' || !('scope' in value || value.kind === 'property')) return undefined
  for (const property of node.properties) {
    if (property.type !== 'ObjectProperty' || property.computed) continue
    const [inner, fallback] =
      property.value.type === 'AssignmentPattern'
        ? [property.value.left, property.value.right]
        : [property.value]
    const scope = scopeOf(value)
    const key = specifierName(property.key)
    const bound: Binding = {
      kind: 'property',
      of: value,
      key,
      fallback: fallback && scope ? { node: fallback, scope } : undefined,
    }
    const found = bindPattern(inner, bound, name)
    if (found !== undefined) return found
  }
  return undefined
}

function scopeOf(binding: Binding): Scope | undefined {
  if (binding.kind === 'node') return binding.scope
  return binding.kind === 'property' ? scopeOf(binding.of) : undefined
}

/** The scope inside of a function that is called with arguments. */
export function calledScope({ node, scope }: ScriptNode, declared: readonly ScriptNode[]): Scope {
  if (!isFunction(node)) return scope
  const names = [...nodesIn([node.params])].flatMap(each => (each.type === 'Identifier' ? [each.name] : []))
  const bound = new Map<string, Binding>()
  for (const [index, parameter] of node.params.entries()) {
    const [pattern, fallback] =
      parameter.type === 'AssignmentPattern' ? [parameter.left, parameter.right] : [parameter]
    const argument = declared[index] ?? (fallback && { node: fallback, scope })
    if (argument === undefined) continue
    for (const name of names) {
      const found = bindPattern(pattern, { kind: 'node', ...argument }, name)
      if (found !== undefined && !bound.has(name)) bound.set(name, found)
    }
  }
  const body = node.body.type === 'BlockStatement' ? node.body.body : []
  return { module: scope.module, body, bound, outer: scope }
}

type ImportNode = Extract<StatementNode, { type: 'ImportDeclaration' }>

function importedBy(
  { specifiers, source }: ImportNode,
  name: string,
  { scope, seen }: { readonly scope: Scope; readonly seen: Seen },
): Binding | undefined {
  const specifier = specifiers.find(({ local }) => local.name === name)
  const module = specifier && importedModule(scope.module, source.value)
  if (module === undefined) return undefined
  if (specifier?.type === 'ImportSpecifier') return exportOf(module, specifierName(specifier.imported), seen)
  return specifier?.type === 'ImportDefaultSpecifier'
    ? exportOf(module, 'default', seen)
    : { kind: 'namespace', of: module }
}

/** The module of `require('./limits')`; undefined: another expression, or not a module of the project. */
export function requiredModule(node: ValueNode, { module }: Scope): ScopedModule | undefined {
  if (node.type !== 'CallExpression' || memberPath(node.callee) !== 'require') return undefined
  const [specifier] = node.arguments
  return specifier?.type === 'StringLiteral' ? importedModule(module, specifier.value) : undefined
}

/** The files of the project that a module imports, re-exports or requires, relative to its folder. */
export function importedFiles(module: ScopedModule): ReadonlySet<string> {
  const scope = moduleScope(module)
  const required = callsIn(module).map(node => requiredModule(node, scope))
  const imported = module.body.map(statement =>
    'source' in statement && statement.source ? importedModule(module, statement.source.value) : undefined,
  )
  return new Set([...required, ...imported].flatMap(each => each?.file ?? []))
}

/** What a module exports under a name. `seen`: modules that re-export one another. */
export function exportOf(module: ScopedModule, name: string, seen: Seen = []): Binding | undefined {
  if (seen.includes(module)) return undefined
  const scope = moduleScope(module)
  const node =
    module.body.map(valueAssigned(`exports.${name}`)).findLast(Boolean) ??
    module.body.map(valueAssigned(`module.exports.${name}`)).findLast(Boolean)
  if (node) return { kind: 'node', node, scope }
  for (const statement of module.body) {
    const found = exportedBy(statement, name, scope, [...seen, module])
    if (found !== undefined) return found
  }
  const common = commonExport(module)
  if (common === undefined) return undefined
  const whole: Binding = { kind: 'node', node: common, scope, name: 'module.exports' }
  return name === 'default' ? whole : { kind: 'property', of: whole, key: name }
}

function exportedBy(statement: StatementNode, name: string, scope: Scope, seen: Seen): Binding | undefined {
  if (statement.type === 'ExportDefaultDeclaration')
    return name === 'default' ? { kind: 'node', node: statement.declaration, scope } : undefined
  if (statement.type === 'ExportAllDeclaration') {
    const module = name === 'default' ? undefined : importedModule(scope.module, statement.source.value)
    return module && exportOf(module, name, seen)
  }
  if (statement.type !== 'ExportNamedDeclaration') return undefined
  if (statement.declaration) return declaredBy(statement, name, scope)
  const specifier = statement.specifiers.find(({ exported }) => specifierName(exported) === name)
  if (specifier === undefined) return undefined
  const source = statement.source && importedModule(scope.module, statement.source.value)
  if (specifier.type !== 'ExportSpecifier') return source ? { kind: 'namespace', of: source } : undefined
  const local = specifierName(specifier.local)
  if (source) return exportOf(source, local, seen)
  return statement.source ? undefined : bindingOf(local, scope, seen)
}

/** All names that a module exports, except the default. */
export function exportedNames({ body }: ScopedModule): readonly string[] {
  return body.flatMap(statement => {
    if (statement.type === 'ExpressionStatement' && statement.expression.type === 'AssignmentExpression') {
      const [, name] =
        /^(?:module\.)?exports\.([^.]+)$/.exec(memberPath(statement.expression.left) ?? '') ?? []
      return name === undefined || name === '__esModule' ? [] : [name]
    }
    if (statement.type !== 'ExportNamedDeclaration') return []
    if (statement.declaration?.type === 'VariableDeclaration')
      return statement.declaration.declarations.flatMap(({ id }) =>
        id.type === 'Identifier' ? [id.name] : [],
      )
    return statement.specifiers.map(({ exported }) => specifierName(exported))
  })
}

/** The function that an expression is or refers to; undefined: none was found within 20 steps. */
export function followFunction(at: ScriptNode, steps = 0): ScriptNode | undefined {
  const node = unwrapExpression(at.node)
  if (isFunction(node)) return { node, scope: at.scope }
  if (steps > 20) return undefined
  const module = requiredModule(node, at.scope)
  const binding = module
    ? exportOf(module, 'default')
    : node.type === 'Identifier'
      ? bindingOf(node.name, at.scope)
      : node.type === 'MemberExpression'
        ? memberBinding(node, at.scope)
        : undefined
  return binding && followBinding(binding, steps + 1)
}

function memberBinding(
  node: Extract<ValueNode, { type: 'MemberExpression' }>,
  scope: Scope,
): Binding | undefined {
  const [object, key, ...more] = (memberPath(node) ?? '').split('.')
  const owner =
    object === undefined || key === undefined || more.length > 0 ? undefined : bindingOf(object, scope)
  const required = requiredModule(node.object, scope)
  const isName = !node.computed && node.property.type === 'Identifier'
  if (required && isName) return exportOf(required, specifierName(node.property))
  if (owner?.kind === 'namespace' && key !== undefined) return exportOf(owner.of, key)
  return undefined
}

function followBinding(binding: Binding, steps: number): ScriptNode | undefined {
  if (binding.kind === 'node') return followFunction(binding, steps)
  if (binding.kind === 'namespace' || binding.of.kind !== 'node') return undefined
  const owner = unwrapExpression(binding.of.node)
  const module = requiredModule(owner, binding.of.scope)
  if (module !== undefined) {
    const exported = exportOf(module, binding.key)
    return exported && exported !== binding ? followBinding(exported, steps + 1) : undefined
  }
  if (owner.type !== 'ObjectExpression') return undefined
  const property = owner.properties.find(
    each => each.type === 'ObjectProperty' && specifierName(each.key) === binding.key,
  )
  return property?.type === 'ObjectProperty'
    ? followFunction({ node: property.value, scope: binding.of.scope }, steps + 1)
    : undefined
}
