import {
  type ASTNode,
  type DefinitionNode,
  type DocumentNode,
  isTypeDefinitionNode,
  isTypeExtensionNode,
  Kind,
  print,
  specifiedScalarTypes,
  type TypeDefinitionNode,
  type TypeExtensionNode,
  visit,
} from 'graphql'
import { didYouMean } from '../../base/nearest.ts'
import type { Path } from '../../faults/diagnostic.ts'

/** Definitions and their source. */
export interface SourceDefinitions {
  /** The source, such as `extensions/search`; null: generated. */
  readonly by: string | null
  readonly document: DocumentNode
}

/** The fields of the merged schema's object types, as `<Type>.<field>`. */
export interface SchemaFields {
  readonly fields: ReadonlySet<string>
  readonly generated: ReadonlySet<string>
}

/** Checks that definitions can be merged and refer only to known types; each fault names the sources. */
export function checkDefinitions(all: readonly SourceDefinitions[]): {
  readonly defined: SchemaFields
  readonly faults: readonly GraphqlFault[]
} {
  const state: DefinitionState = { types: new Map(), fields: new Map(), faults: [] }
  for (const { by, document } of all)
    for (const node of document.definitions) if (isTypeNode(node)) define(node, by, state)
  for (const { by, document } of all)
    if (by !== null) state.faults.push(...unknownTypes(document, by, state.types))
  const outputs = [...state.fields].filter(([, { isOutput }]) => isOutput)
  return {
    defined: {
      fields: new Set(outputs.map(([coordinate]) => coordinate)),
      generated: new Set(outputs.filter(([, { by }]) => by === null).map(([coordinate]) => coordinate)),
    },
    faults: state.faults,
  }
}

interface DefinitionState {
  readonly types: Map<string, { readonly by: string | null; readonly kind: string }>
  readonly fields: Map<string, DefinedField>
  readonly faults: GraphqlFault[]
}

interface DefinedField {
  readonly by: string | null
  /** The definition without its description. */
  readonly text: string
  readonly isOutput: boolean
}

type TypeNode = TypeDefinitionNode | TypeExtensionNode

const isTypeNode = (node: DefinitionNode): node is TypeNode =>
  isTypeDefinitionNode(node) || isTypeExtensionNode(node)

/** `ObjectTypeExtension` → `object type`. */
const typeKind = ({ kind }: TypeNode): string =>
  kind
    .replace(/Type(Definition|Extension)$/, '')
    .replace(/(?<=[a-z])(?=[A-Z])/, ' ')
    .toLowerCase()

function define(node: TypeNode, by: string | null, state: DefinitionState): void {
  const name = node.name.value
  const known = state.types.get(name)
  const kind = typeKind(node)
  if (known && known.kind !== kind) {
    const message = `\`${name}\` is defined as ${kind}, but ${originName(known.by)} has it as ${known.kind}`
    state.faults.push(extensionFault(String(by), message))
    return
  }
  if (!known && !(isTypeExtensionNode(node) && !isRoot(name))) state.types.set(name, { by, kind })
  defineFields(node, by, state)
}

const isRoot = (name: string): boolean => name === 'Query' || name === 'Mutation'

const originName = (by: string | null): string => by ?? 'the generated schema'

function defineFields(node: TypeNode, by: string | null, state: DefinitionState): void {
  if (!('fields' in node)) return
  const isOutput = node.kind.startsWith('ObjectType')
  for (const { description: _, directives: __, ...field } of node.fields ?? []) {
    const coordinate = `${node.name.value}.${field.name.value}`
    const text = print(field)
    const known = state.fields.get(coordinate)
    if (!known) state.fields.set(coordinate, { by, text, isOutput })
    else if (known.text !== text) {
      const message = `\`${coordinate}\` is defined as \`${text}\`, but ${originName(known.by)} has \`${known.text}\``
      state.faults.push(extensionFault(String(by), message))
    }
  }
}

const BUILT_IN: readonly string[] = specifiedScalarTypes.map(({ name }) => name)

const isExtension = (node: ASTNode): node is TypeExtensionNode => /^\w+TypeExtension$/.test(node.kind)

function unknownTypes(
  document: DocumentNode,
  by: string,
  types: DefinitionState['types'],
): readonly GraphqlFault[] {
  const known = [...types.keys(), ...BUILT_IN]
  const asked = new Set<string>()
  visit(document, {
    enter(node) {
      if (node.kind === Kind.NAMED_TYPE || isExtension(node)) asked.add(node.name.value)
    },
  })
  return [...asked]
    .filter(name => !known.includes(name))
    .map(name => extensionFault(by, `unknown type \`${name}\`${didYouMean(name, known)}`))
}

/** A fault in the project's additions to the schema: in an extension, or at a path of project.yaml. */
export type GraphqlFault =
  | { readonly by: string; readonly message: string; readonly path: null }
  | { readonly by: null; readonly message: string; readonly path: Path }

export const extensionFault = (by: string, message: string): GraphqlFault => ({ by, message, path: null })

export const projectFault = (path: Path, message: string): GraphqlFault => ({ by: null, message, path })
