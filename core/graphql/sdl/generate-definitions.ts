import { type ASTNode, type DocumentNode, Kind, parse, visit } from 'graphql'
import { graphqlMutationNames } from '../../model/graphql-names.ts'
import type { BuiltInTypes, Model } from '../../model/model.ts'
import { filterInputs } from './filter-inputs.ts'
import { FIXED_TYPES, SIGN_IN, UPLOADS, USERS } from './fixed-definitions.ts'
import { componentDefinitions, contentTypeDefinitions } from './holder-definitions.ts'
import { printRootField, type RootField } from './root-fields.ts'
import { objectType, type Sdl } from './sdl.ts'
import type { ShadowAction, ShadowCrud } from './shadow-crud.ts'

export interface Generating {
  readonly model: Model
  readonly shadow: ShadowCrud
  readonly roots: readonly RootField[]
  /** false: no more than extensions can build on (contract/graphql.md 11). */
  readonly generates: boolean
}

/** All definitions of the generated schema, those that nothing leads to among them. */
export function generateDefinitions(terms: Generating): readonly (Sdl | DocumentNode)[] {
  const { model, shadow, roots, generates } = terms
  if (!generates) return [FIXED_TYPES, objectType('Query', ['ok: Boolean'])]
  return [
    FIXED_TYPES,
    SIGN_IN,
    ...withoutSwitchedOff([UPLOADS, USERS], terms),
    ...filterInputs(),
    ...[...model.components.values()].flatMap(component => componentDefinitions(component, shadow)),
    ...[...model.contentTypes.values()]
      .filter(type => shadow.shows(type))
      .flatMap(type => contentTypeDefinitions(type, shadow)),
    ...(['Query', 'Mutation'] as const).map(name =>
      objectType(name, roots.filter(({ root }) => root === name).map(printRootField)),
    ),
  ].filter(definition => definition !== '')
}

/** What the fixed mutations do to which built-in type. */
const FILES: Readonly<Record<string, ShadowAction>> = {
  upload: 'create',
  multipleUpload: 'create',
  updateFileInfo: 'update',
  removeFile: 'delete',
}

function switchedOff({ model: { builtIn }, shadow }: Generating): ReadonlySet<string> {
  const names = (['user', 'role', 'file'] satisfies (keyof BuiltInTypes)[]).flatMap(key => {
    const type = builtIn[key]
    const own = graphqlMutationNames(type)
    const mutations = (['create', 'update', 'delete'] as const).map(action => [own[action], action] as const)
    const all = key === 'file' ? [...mutations, ...Object.entries(FILES)] : mutations
    return all.filter(([, action]) => !shadow.does(type, action)).map(([name]) => name)
  })
  return new Set(names)
}

function withoutSwitchedOff(texts: readonly Sdl[], terms: Generating): readonly (Sdl | DocumentNode)[] {
  const off = switchedOff(terms)
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
