import {
  type ArgumentNode,
  type FieldNode,
  type GraphQLArgument,
  GraphQLError,
  type GraphQLInputObjectType,
  type GraphQLInputType,
  type GraphQLLeafType,
  type GraphQLNamedType,
  getNamedType,
  getNullableType,
  isInputObjectType,
  isInterfaceType,
  isListType,
  isNonNullType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  SchemaMetaFieldDef,
  type SelectionNode,
  type SelectionSetNode,
  TypeMetaFieldDef,
  type ValueNode,
  type VariableNode,
} from 'graphql'
import { type CollectOptions, isIncluded } from './collect-fields.ts'

/**
 * Errors of variables whose values do not fit a position where they are used. Validation accepts a nullable variable with
 * a default where null is not allowed, and variables in literals of scalars; graphql-js refuses their values only when it
 * executes the field, after mutations have been written. Each fragment is checked once, so the time is linear in the
 * document. What directives exclude is not checked. Requires a valid document.
 */
export function checkArguments(
  operation: OperationDefinitionNode,
  options: CollectOptions,
): readonly GraphQLError[] {
  const root = options.schema.getRootType(operation.operation)
  if (!root || Object.keys(options.variables).length === 0) return []
  const walk: Walk = { ...options, variables: { ...options.variables }, visited: new Set(), errors: [] }
  checkSelections(operation.selectionSet, root, walk)
  return walk.errors
}

interface Walk extends CollectOptions {
  /** A copy: scalars get it. */
  readonly variables: Record<string, unknown>
  /** The fragments that were checked. */
  readonly visited: Set<string>
  readonly errors: GraphQLError[]
}

function checkSelections(set: SelectionSetNode, parent: GraphQLNamedType, walk: Walk): void {
  for (const node of set.selections) {
    if (!checkDirectives(node, walk) || !isIncluded(node, walk)) continue
    if (node.kind === Kind.FIELD) checkField(node, parent, walk)
    else checkFragment(node, parent, walk)
  }
}

function checkFragment(node: Exclude<SelectionNode, FieldNode>, parent: GraphQLNamedType, walk: Walk): void {
  if (node.kind === Kind.FRAGMENT_SPREAD) {
    if (walk.visited.has(node.name.value)) return
    walk.visited.add(node.name.value)
  }
  const fragment = node.kind === Kind.INLINE_FRAGMENT ? node : walk.fragments[node.name.value]
  if (!fragment) return
  const condition = fragment.typeCondition?.name.value
  const type = condition === undefined ? parent : walk.schema.getType(condition)
  if (type) checkSelections(fragment.selectionSet, type, walk)
}

function checkField(node: FieldNode, parent: GraphQLNamedType, walk: Walk): void {
  const field = fieldOf(parent, node.name.value)
  if (!field) return
  checkInputs(node.arguments, { args: field.args, of: `${parent.name}.${field.name}` }, walk)
  if (node.selectionSet) checkSelections(node.selectionSet, getNamedType(field.type), walk)
}

function fieldOf(parent: GraphQLNamedType, name: string) {
  if (name === SchemaMetaFieldDef.name) return SchemaMetaFieldDef
  if (name === TypeMetaFieldDef.name) return TypeMetaFieldDef
  return isObjectType(parent) || isInterfaceType(parent) ? parent.getFields()[name] : undefined
}

/** False if a directive's arguments are wrong. */
function checkDirectives(node: SelectionNode, walk: Walk): boolean {
  const before = walk.errors.length
  for (const { name, arguments: inputs } of node.directives ?? []) {
    const { args = [] } = walk.schema.getDirective(name.value) ?? {}
    checkInputs(inputs, { args, of: `@${name.value}` }, walk)
  }
  return walk.errors.length === before
}

/** The declared arguments of a field or directive, and its name in errors. */
interface Declared {
  readonly args: readonly GraphQLArgument[]
  readonly of: string
}

function checkInputs(inputs: readonly ArgumentNode[] = [], { args, of }: Declared, walk: Walk): void {
  for (const { name, value } of inputs) {
    const declared = args.find(argument => argument.name === name.value)
    if (declared) checkValue(value, declared.type, { name: `the argument ${declared.name} of ${of}`, walk })
  }
}

/** The argument or input field around a value. */
interface Position {
  readonly name: string
  readonly walk: Walk
}

function checkValue(node: ValueNode, expected: GraphQLInputType, position: Position): void {
  if (node.kind === Kind.VARIABLE) {
    checkVariable(node, expected, position)
    return
  }
  const type = getNullableType(expected)
  if (isListType(type)) {
    const entries = node.kind === Kind.LIST ? node.values : [node]
    for (const entry of entries) checkValue(entry, type.ofType, position)
  } else if (isInputObjectType(type)) checkObject(node, type, position)
  else if (node.kind === Kind.OBJECT || node.kind === Kind.LIST) checkLeaf(node, type, position)
}

function checkVariable(node: VariableNode, expected: GraphQLInputType, { name, walk }: Position): void {
  const variable = node.name.value
  if (!isNonNullType(expected) || walk.variables[variable] !== null) return
  const message = `Variable "$${variable}" must not be null: ${name} expects a value of type ${String(expected)}.`
  walk.errors.push(new GraphQLError(message, { nodes: node }))
}

function checkObject(node: ValueNode, type: GraphQLInputObjectType, { walk }: Position): void {
  if (node.kind !== Kind.OBJECT) return
  const fields = type.getFields()
  for (const { name, value } of node.fields) {
    const field = fields[name.value]
    if (field) checkValue(value, field.type, { name: `the field ${name.value} of ${type.name}`, walk })
  }
}

/** A literal of a scalar may contain variables, whose values validation does not know. */
function checkLeaf(node: ValueNode, type: GraphQLLeafType, { name, walk }: Position): void {
  try {
    type.parseLiteral(node, walk.variables)
  } catch (error) {
    const message = `${name} expects a value of type ${type.name}: ${error instanceof Error ? error.message : error}`
    walk.errors.push(new GraphQLError(message, { nodes: node }))
  }
}
