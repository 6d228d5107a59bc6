import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, sep } from 'node:path'
import {
  type ASTNode,
  type DefinitionNode,
  type DocumentNode,
  isExecutableDefinitionNode,
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
import { ticked } from '../../base/text.ts'
import type { Path } from '../../faults/diagnostic.ts'

/** Definitions and their source. */
export interface SourceDefinitions {
  /** The source, such as `extensions/search`; null: generated. */
  readonly by: string | null
  readonly document: DocumentNode
}

/** The names of the merged schema's types, and the fields of its object types as `<Type>.<field>`. */
export interface SchemaFields {
  readonly types: ReadonlySet<string>
  readonly fields: ReadonlySet<string>
  readonly generated: ReadonlySet<string>
}

/**
 * Checks that definitions can be merged and refer only to known types; each fault names the sources. `root`: the project's
 * folder.
 */
export function checkDefinitions(
  all: readonly SourceDefinitions[],
  root: string,
): {
  readonly defined: SchemaFields
  readonly faults: readonly GraphqlFault[]
} {
  const state: DefinitionState = { root, types: new Map(), fields: new Map(), faults: [] }
  for (const { by, document } of all)
    for (const node of document.definitions) {
      const unused = by === null ? null : unusedReason(node)
      if (unused !== null) state.faults.push(extensionFault(String(by), unused, lineOf(node)))
      else if (isTypeNode(node)) define(node, by, state)
    }
  for (const { by, document } of all)
    if (by !== null) state.faults.push(...unknownTypes(document, by, state.types))
  state.faults.push(...emptyTypes(state))
  const outputs = [...state.fields].filter(([, { isOutput }]) => isOutput)
  return {
    defined: {
      types: new Set(state.types.keys()),
      fields: new Set(outputs.map(([coordinate]) => coordinate)),
      generated: new Set(outputs.filter(([, { by }]) => by === null).map(([coordinate]) => coordinate)),
    },
    faults: state.faults,
  }
}

/** Why a definition would have no effect; null: it has one. */
function unusedReason(node: DefinitionNode): string | null {
  if (isExecutableDefinitionNode(node)) return 'typeDefs defines types, and this is a document of a client'
  return isTypeNode(node) && node.name.value === 'Subscription' ? 'there are no subscriptions here' : null
}

interface DefinitionState {
  readonly root: string
  readonly types: Map<string, DefinedType>
  readonly fields: Map<string, DefinedField>
  readonly faults: GraphqlFault[]
}

interface DefinedType {
  readonly by: string | null
  readonly kind: string
  readonly node: TypeNode
}

interface DefinedField {
  readonly by: string | null
  readonly node: ASTNode
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
    const message = `\`${name}\` is defined as ${kind}, but ${originName(known, state.root)} has it as ${known.kind}`
    state.faults.push(extensionFault(String(by), message, lineOf(node)))
    return
  }
  if (!known && !(isTypeExtensionNode(node) && !isRoot(name))) state.types.set(name, { by, kind, node })
  const before = state.faults.length
  defineFields(node, by, state)
  if (known && state.faults.length === before) refuseOtherMembers(node, by, { known, state })
}

const isRoot = (name: string): boolean => name === 'Query' || name === 'Mutation'

/** Two definitions of a type by extensions have the same members. Generated types and the roots are added to without `extend`, too. */
function refuseOtherMembers(
  node: TypeNode,
  by: string | null,
  { known, state }: { readonly known: DefinedType; readonly state: DefinitionState },
): void {
  const name = node.name.value
  if (known.by === null || isRoot(name) || isTypeExtensionNode(node)) return
  const [own, others] = [membersOf(node), membersOf(known.node)]
  const different = [...own, ...others].filter(each => !own.has(each) || !others.has(each))
  if (different.length === 0) return
  const instead = `extend ${known.kind === 'object' ? 'type' : known.kind.replace(' object', '')} ${name}`
  const message = `\`${name}\` is defined with other members (${ticked(different)}) than in ${originName(known, state.root)}: write \`${instead}\` to add to it`
  state.faults.push(extensionFault(String(by), message, lineOf(node)))
}

function membersOf(node: TypeNode): ReadonlySet<string> {
  const lists = [
    'fields' in node ? node.fields : [],
    'values' in node ? node.values : [],
    'types' in node ? node.types : [],
    'interfaces' in node ? node.interfaces : [],
  ]
  return new Set(lists.flatMap(list => (list ?? []).map(each => each.name.value)))
}

function defineFields(node: TypeNode, by: string | null, state: DefinitionState): void {
  if (!('fields' in node)) return
  const isOutput = node.kind.startsWith('ObjectType')
  for (const { description: _, directives: __, ...field } of node.fields ?? []) {
    const coordinate = `${node.name.value}.${field.name.value}`
    const text = print(field)
    const known = state.fields.get(coordinate)
    if (!known) state.fields.set(coordinate, { by, node: field, text, isOutput })
    else if (known.text !== text) {
      const message = `\`${coordinate}\` is defined as \`${text}\`, but ${originName(known, state.root)} has \`${known.text}\``
      state.faults.push(extensionFault(String(by), message, lineOf(field)))
    }
  }
}

/** `extensions/search.ts:12`: where a definition is written. */
const originName = ({ by, node }: Pick<DefinedField, 'by' | 'node'>, root: string): string =>
  by === null ? 'the generated schema' : placeName(by, lineOf(node), root)

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

/** The schema would lose such types, and every field that has one. Other kinds are refused by graphql-js. */
function emptyTypes({ types, fields }: DefinitionState): readonly GraphqlFault[] {
  const filled = new Set([...fields.keys()].map(coordinate => coordinate.split('.')[0]))
  return [...types].flatMap(([name, { by, kind, node }]) =>
    by === null || isRoot(name) || filled.has(name) || !HAVE_FIELDS.has(kind)
      ? []
      : [extensionFault(by, `\`${name}\` has no fields: ${kind} types have at least one`, lineOf(node))],
  )
}

const HAVE_FIELDS: ReadonlySet<string> = new Set(['object', 'interface', 'input object'])

/** The definitions down to the line in which a node begins. */
export function lineOf({ loc }: ASTNode): string | undefined {
  if (!loc) return undefined
  return loc.source.body.split(/\r?\n/).slice(0, loc.startToken.line).join('\n')
}

/**
 * A fault in the project's additions to the schema: in an extension, or at a path of project.yaml. `line`: text of the
 * extension that ends in the faulty line, by which `withPlace` finds the place in the author's file.
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
  const place = findPlace(fault.by, fault.line, root)
  return place === null ? fault : { ...fault, message: `${fault.message} (at ${place})` }
}

/** `extensions/search.ts:12`: the place of a text of an extension; its name if it is not found. */
export const placeName = (by: string, line: string | undefined, root: string): string =>
  findPlace(by, line, root) ?? by

function findPlace(by: string, line: string | undefined, root: string): string | null {
  const files = definitionFiles(by, root)
  // Texts that a file makes, or has with escapes, are found by their last line alone.
  const wanted = [line?.trim() ?? '', line?.split('\n').at(-1)?.trim() ?? '', 'graphql.use(']
  return wanted.reduce<string | null>(
    (found, text) => found ?? (text === '' ? null : findLine(text, files, root)),
    null,
  )
}

/** `extensions/search.ts:12`: the line in which the first occurrence of the text ends; null: there is none. */
function findLine(text: string, files: readonly string[], root: string): string | null {
  for (const file of files) {
    const content = readFileSync(join(root, file), 'utf8').replaceAll('\r\n', '\n')
    const at = indexOfWord(content, text)
    if (at >= 0) return `${file}:${content.slice(0, at + text.length).split('\n').length}`
  }
  return null
}

/** `s:` is not found in `types:`. */
function indexOfWord(content: string, text: string): number {
  const isOfWord = (at: number): boolean => /\w/.test(content.charAt(at))
  let at = content.indexOf(text)
  while (at > 0 && isOfWord(at - 1) && isOfWord(at)) at = content.indexOf(text, at + 1)
  return at
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
