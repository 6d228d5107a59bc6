import { type ASTNode, type DocumentNode, Kind, parse, visit } from 'graphql'
import type { BuiltInTypes, Model } from '../../model/model.ts'
import { graphqlMutationNames } from '../../model/names.ts'
import type { GraphqlFormat } from '../formats/format.ts'
import type { EnabledCrud, ShadowAction } from './enabled-crud.ts'
import { FIXED_DEFINITIONS, USERS } from './fixed-definitions.ts'
import { componentDefinitions, contentTypeDefinitions } from './holder-definitions.ts'
import { printRootField, type RootField } from './root-fields.ts'
import { filterInputs } from './scalar-names.ts'
import { objectType, type Sdl } from './sdl.ts'

export interface DefinitionTerms {
  readonly model: Model
  readonly shadow: EnabledCrud
  readonly format: GraphqlFormat
  readonly roots: readonly RootField[]
  /** false: only the minimum that extensions can build on (reference/graphql.md#11-limits-playground-and-introspection). */
  readonly generatesTypes: boolean
}

/** All definitions of the generated schema; unreachable ones are pruned later. */
export function generateDefinitions(terms: DefinitionTerms): readonly (Sdl | DocumentNode)[] {
  const { model, shadow, format, roots, generatesTypes: generates } = terms
  const fixed = FIXED_DEFINITIONS[format.name]
  if (!generates) return [fixed.types, objectType('Query', ['ok: Boolean'])]
  return [
    fixed.types,
    fixed.signIn,
    ...withoutDisabled([fixed.uploads, USERS], terms),
    ...filterInputs(),
    ...[...model.components.values()].flatMap(component => componentDefinitions(component, terms)),
    ...[...model.contentTypes.values()]
      .filter(type => shadow.shows(type))
      .flatMap(type => contentTypeDefinitions(type, terms)),
    ...(['Query', 'Mutation'] as const).map(name =>
      objectType(
        name,
        roots.filter(({ root }) => root === name).map(root => printRootField(root, format)),
      ),
    ),
  ].filter(definition => definition !== '')
}

/** The actions of the file mutations. */
const FILE_MUTATIONS: Readonly<Record<string, ShadowAction>> = {
  upload: 'create',
  multipleUpload: 'create',
  updateFileInfo: 'update',
  removeFile: 'delete',
}

function disabledMutations({ model: { builtIn }, shadow }: DefinitionTerms): ReadonlySet<string> {
  const names = (['user', 'role', 'file'] satisfies (keyof BuiltInTypes)[]).flatMap(key => {
    const type = builtIn[key]
    const own = graphqlMutationNames(type)
    const mutations = (['create', 'update', 'delete'] as const).map(action => [own[action], action] as const)
    const all = key === 'file' ? [...mutations, ...Object.entries(FILE_MUTATIONS)] : mutations
    return all.filter(([, action]) => !shadow.allows(type, action)).map(([name]) => name)
  })
  return new Set(names)
}

function withoutDisabled(texts: readonly Sdl[], terms: DefinitionTerms): readonly (Sdl | DocumentNode)[] {
  const off = disabledMutations(terms)
  if (off.size === 0) return texts
  const isOff = (node: ASTNode) => node.kind === Kind.FIELD_DEFINITION && off.has(node.name.value)
  return texts.map(text =>
    withoutEmpty(visit(parse(text), { enter: node => (isOff(node) ? null : undefined) })),
  )
}

const withoutEmpty = (document: DocumentNode): DocumentNode => ({
  ...document,
  definitions: document.definitions.filter(node => !('fields' in node) || (node.fields?.length ?? 0) > 0),
})
