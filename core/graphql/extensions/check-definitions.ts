import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, sep } from 'node:path'
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
    state.faults.push(extensionFault(String(by), message, lineOf(node)))
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
      state.faults.push(extensionFault(String(by), message, lineOf(field)))
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
  const asked = new Map<string, ASTNode>()
  visit(document, {
    enter(node) {
      if ((node.kind === Kind.NAMED_TYPE || isExtension(node)) && !asked.has(node.name.value))
        asked.set(node.name.value, node)
    },
  })
  return [...asked]
    .filter(([name]) => !known.includes(name))
    .map(([name, node]) =>
      extensionFault(by, `unknown type \`${name}\`${didYouMean(name, known)}`, lineOf(node)),
    )
}

/** The line of the definitions in which a node begins. */
function lineOf({ loc }: ASTNode): string | undefined {
  if (!loc) return undefined
  return loc.source.body.split(/\r?\n/)[loc.startToken.line - 1]
}

/**
 * A fault in the project's additions to the schema: in an extension, or at a path of project.yaml. `line`: the line of the
 * definitions, by which `withPlace` finds the place in the author's file.
 */
export type GraphqlFault =
  | { readonly by: string; readonly message: string; readonly path: null; readonly line?: string }
  | { readonly by: null; readonly message: string; readonly path: Path }

export const extensionFault = (by: string, message: string, line?: string): GraphqlFault => ({
  ...{ by, message, path: null },
  ...(line !== undefined && { line }),
})

export const projectFault = (path: Path, message: string): GraphqlFault => ({ by: null, message, path })

/**
 * Adds the place in the project to the message, `(at extensions/search.ts:12)`: where the line of the definitions is
 * written, else where the extension calls `graphql.use`.
 */
export function withPlace(fault: GraphqlFault, root: string): GraphqlFault {
  if (fault.by === null || / \(at \S+:\d+\)$/.test(fault.message)) return fault
  const files = definitionFiles(fault.by, root)
  const wanted = (fault.line ?? '').trim()
  const place =
    (wanted === '' ? null : findLine(wanted, files, root)) ?? findLine('graphql.use(', files, root)
  return place === null ? fault : { ...fault, message: `${fault.message} (at ${place})` }
}

/** `extensions/search.ts:12`: the first line that contains the text; null: none does. */
function findLine(text: string, files: readonly string[], root: string): string | null {
  for (const file of files) {
    const at = readFileSync(join(root, file), 'utf8')
      .split(/\r?\n/)
      .findIndex(line => line.includes(text))
    if (at >= 0) return `${file}:${at + 1}`
  }
  return null
}

/** The file of an extension first, then all files of extensions/ that hold definitions only. */
function definitionFiles(by: string, root: string): readonly string[] {
  const [folder = ''] = by.split('/')
  if (!existsSync(join(root, folder))) return []
  const files = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter(name => /\.([cm]?[jt]s|graphqls?|gql)$/.test(name))
    .map(name => `${folder}/${name.split(sep).join('/')}`)
  const isOwn = (file: string) => file.replace(/(\/index)?\.\w+$/, '') === by
  const isModule = (file: string) => /\.[cm]?[jt]s$/.test(file)
  return [...files.filter(isOwn), ...files.filter(file => !isOwn(file) && !isModule(file)).toSorted()]
}
