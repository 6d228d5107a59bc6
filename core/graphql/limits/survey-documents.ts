import {
  type DefinitionNode,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  GraphQLError,
  type GraphQLSchema,
  Kind,
  NoUnusedFragmentsRule,
  type OperationDefinitionNode,
  parse,
  print,
  type SelectionSetNode,
  Source,
  specifiedRules,
  TypeInfo,
  validate,
  visit,
  visitWithTypeInfo,
} from 'graphql'
import type { ContentType, Holder, Model } from '../../model/model.ts'
import { graphqlTypeName } from '../../model/names.ts'
import type { GraphqlSettings } from '../../project/settings/settings.ts'
import type { GraphqlFormat } from '../formats/format.ts'
import { limitPath } from './budget.ts'
import { limitTokens } from './limit-nesting.ts'
import { measureOperation } from './measure-operation.ts'

/** A file of a client's GraphQL documents. */
export interface DocumentFile {
  readonly file: string
  readonly text: string
  /** The position of the text in the file, if it is not the beginning. Both numbers begin with 1. */
  readonly offset?: { readonly line: number; readonly column: number }
}

/** A place in a file. Both numbers begin with 1. */
interface Spot {
  readonly file: string
  readonly line: number
  readonly column: number
}

/** A limit with the most that an operation needs of it. */
export interface LimitNeed {
  /** The key in project.yaml. */
  readonly key: string
  readonly needed: number
  readonly configured: number
  /** The operation that needs it. */
  readonly operation: string
  readonly place: Spot
}

export interface DocumentSurvey {
  readonly operations: number
  readonly faults: readonly (Spot & { readonly message: string })[]
  readonly needs: readonly LimitNeed[]
}

export interface SurveyOptions {
  /** One for each served format. A document must be valid in one of them. */
  readonly schemas: readonly GraphQLSchema[]
  readonly config: Pick<GraphqlSettings['config'], 'depthLimit' | 'limits'>
}

/**
 * Validates documents against the schemas and measures the limits that their operations need. Fragments of all files are
 * known in each of them, as in GraphQL Code Generator.
 */
export function surveyDocuments(files: readonly DocumentFile[], options: SurveyOptions): DocumentSurvey {
  const faults: GraphQLError[] = []
  const definitions = files.flatMap(file => parseFile(file, faults))
  const fragments = definitions.filter(isFragment)
  const operations = definitions.filter(isOperation)
  const find = fragmentFinder(fragments)
  const used = new Set<FragmentDefinitionNode>()
  const needs: Needs = new Map()
  for (const operation of operations) {
    const document = withFragments(operation, find)
    for (const fragment of document.definitions.filter(isFragment)) used.add(fragment)
    const errors = validateInOne(document, options, specifiedRules)
    faults.push(...errors)
    if (errors.length === 0) faults.push(...measure(operation, document, { config: options.config, needs }))
  }
  for (const fragment of fragments)
    if (!used.has(fragment)) faults.push(...validateInOne(withFragments(fragment, find), options, ALONE))
  const distinct = new Map(faults.map(toFault).map(fault => [JSON.stringify(fault), fault]))
  return { operations: operations.length, faults: [...distinct.values()], needs: [...needs.values()] }
}

/** The rules for a fragment without an operation. */
const ALONE = specifiedRules.filter(rule => rule !== NoUnusedFragmentsRule)

type Executable = OperationDefinitionNode | FragmentDefinitionNode

const isFragment = (node: DefinitionNode): node is FragmentDefinitionNode =>
  node.kind === Kind.FRAGMENT_DEFINITION
const isOperation = (node: DefinitionNode): node is OperationDefinitionNode =>
  node.kind === Kind.OPERATION_DEFINITION

/** Type definitions, such as a copy of the schema, are left out. */
function parseFile({ file, text, offset }: DocumentFile, faults: GraphQLError[]): readonly Executable[] {
  if (!/[^\s,\uFEFF]/.test(text.replace(/#.*/g, ''))) return []
  const nested = limitTokens(text, Number.POSITIVE_INFINITY)
  const source = new Source(text, file, offset)
  try {
    if (!nested.ok) throw new GraphQLError(nested.reasons[0]?.message ?? '', { source, positions: [0] })
    return parse(source).definitions.filter(node => isFragment(node) || isOperation(node))
  } catch (error) {
    if (!(error instanceof GraphQLError)) throw error
    faults.push(error)
    return []
  }
}

type FindFragment = (name: string, from: Executable) => FragmentDefinitionNode | undefined

/** A fragment of the same file comes first, because names may repeat in independent files. */
function fragmentFinder(fragments: readonly FragmentDefinitionNode[]): FindFragment {
  const byFile = new Map(fragments.map(node => [`${fileOf(node)}\n${node.name.value}`, node]))
  const byName = new Map(fragments.map(node => [node.name.value, node]))
  return (name, from) => byFile.get(`${fileOf(from)}\n${name}`) ?? byName.get(name)
}

const fileOf = ({ loc }: Executable): string => loc?.source.name ?? ''

/** A document of one definition and all fragments that it needs. */
function withFragments(first: Executable, find: FindFragment): DocumentNode {
  const found = new Map<string, Executable>()
  if (isFragment(first)) found.set(first.name.value, first)
  const waiting: Executable[] = [first]
  for (let node = waiting.pop(); node; node = waiting.pop()) {
    const from = node
    visit(node, {
      FragmentSpread({ name }) {
        const fragment = found.has(name.value) ? undefined : find(name.value, from)
        if (!fragment) return
        found.set(name.value, fragment)
        waiting.push(fragment)
      },
    })
  }
  const others = [...found.values()].filter(node => node !== first)
  return { kind: Kind.DOCUMENT, definitions: [first, ...others] }
}

/** The errors of the schema that has fewest of them. */
function validateInOne(
  document: DocumentNode,
  { schemas }: SurveyOptions,
  rules: typeof specifiedRules,
): readonly GraphQLError[] {
  let best: readonly GraphQLError[] | undefined
  for (const schema of schemas) {
    const errors = validate(schema, document, rules)
    if (best === undefined || errors.length < best.length) best = errors
  }
  return best ?? []
}

type Needs = Map<string, LimitNeed>

interface MeasureContext {
  readonly config: SurveyOptions['config']
  readonly needs: Needs
}

/** Records what an operation needs; returns the errors of limits that no key raises. */
function measure(
  operation: OperationDefinitionNode,
  document: DocumentNode,
  { config, needs }: MeasureContext,
): readonly GraphQLError[] {
  const fragments = new Map(document.definitions.filter(isFragment).map(node => [node.name.value, node]))
  const most = 1_000_000
  const measured = measureOperation(operation, {
    ...{ fragments, most, allowance: { left: most }, fieldArguments: new Map() },
  })
  if ('what' in measured) {
    const message = `Too many ${measured.what}: at most ${measured.limit} are allowed`
    return [new GraphQLError(message, { nodes: measured.node ?? operation })]
  }
  const tokens = limitTokens(print(document), Number.POSITIVE_INFINITY)
  const amounts: readonly (readonly [key: string, needed: number, configured: number])[] = [
    ['graphql.config.depthLimit', depthOf(operation.selectionSet, fragments), config.depthLimit],
    [limitPath('tokens'), tokens.ok ? tokens.value : 0, config.limits.tokens],
    [limitPath('aliases'), measured.aliases, config.limits.aliases],
    [limitPath('rootFields'), measured.rootFields, config.limits.rootFields],
  ]
  for (const [key, needed, configured] of amounts) {
    if (needed <= (needs.get(key)?.needed ?? -1)) continue
    const name = operation.name?.value ?? 'anonymous operation'
    needs.set(key, { key, needed, configured, operation: name, place: spotOf(operation) })
  }
  return []
}

type Fragments = ReadonlyMap<string, FragmentDefinitionNode>

/** The level of the deepest field, with root fields at level 0. Each fragment is measured once. */
function depthOf(set: SelectionSetNode, fragments: Fragments, known = new Map<string, number>()): number {
  let deepest = 0
  for (const node of set.selections) {
    if (node.kind === Kind.FIELD) {
      if (node.selectionSet && !node.name.value.startsWith('__'))
        deepest = Math.max(deepest, 1 + depthOf(node.selectionSet, fragments, known))
    } else if (node.kind === Kind.INLINE_FRAGMENT)
      deepest = Math.max(deepest, depthOf(node.selectionSet, fragments, known))
    else deepest = Math.max(deepest, fragmentDepth(node.name.value, fragments, known))
  }
  return deepest
}

function fragmentDepth(name: string, fragments: Fragments, known: Map<string, number>): number {
  const fragment = fragments.get(name)
  const depth = known.get(name) ?? (fragment ? depthOf(fragment.selectionSet, fragments, known) : 0)
  known.set(name, depth)
  return depth
}

const spotOf = ({ loc }: Executable): Spot =>
  spotIn(loc?.source, { line: loc?.startToken.line ?? 1, column: loc?.startToken.column ?? 1 })

function toFault({ message, nodes, source, locations }: GraphQLError) {
  const location = locations?.[0] ?? { line: 1, column: 1 }
  return { ...spotIn(nodes?.[0]?.loc?.source ?? source, location), message }
}

/** A place in a text as a place in its file. */
function spotIn(source: Source | undefined, { line, column }: Omit<Spot, 'file'>): Spot {
  const { name = '', locationOffset: begin = { line: 1, column: 1 } } = source ?? {}
  return {
    file: name,
    line: line + begin.line - 1,
    column: line === 1 ? column + begin.column - 1 : column,
  }
}

interface LinkOptions {
  readonly schema: GraphQLSchema
  readonly format: GraphqlFormat
  readonly model: Model
}

/** The fields of a valid document that lead to another type: `author` of `article` leads to the author type. */
export function findFollowedLinks(
  text: string,
  { schema, format, model }: LinkOptions,
): ReadonlyMap<string, ContentType> {
  const holders = [...model.contentTypes.values(), ...model.components.values()]
  const byName = new Map<string, Holder>(holders.map(holder => [graphqlTypeName(holder), holder]))
  const found = new Map<string, ContentType>()
  const info = new TypeInfo(schema)
  const Field = (node: FieldNode) => {
    const holder = byName.get(info.getParentType()?.name ?? '')
    const link = holder && format.linkField(holder, node.name.value)
    // Files are readable wherever their attribute is.
    if (link && link.attribute.kind !== 'media')
      found.set(`\`${link.attribute.name}\` of \`${holder.key}\``, link.attribute.target)
  }
  visit(parse(text), visitWithTypeInfo(info, { Field }))
  return found
}
