import { type ASTNode, type DocumentNode, Kind, parse, visit } from 'graphql'
import { graphqlEnumValues } from '../../model/enum-names.ts'
import type { Attribute, BuiltInTypes, Component, ContentType, Holder, Model } from '../../model/model.ts'
import {
  graphqlEnumName,
  graphqlMutationNames,
  graphqlTypeName,
  graphqlWrapperNames,
  graphqlZoneName,
} from '../../model/names.ts'
import type { GraphqlFormat } from '../formats/format.ts'
import { type FieldTerms, filterFields, inputFields, MORPH_UNION, outputFields } from './attribute-fields.ts'
import type { EnabledCrud, ShadowAction } from './enabled-crud.ts'
import { FIXED_DEFINITIONS, USERS } from './fixed-definitions.ts'
import { printRootField, type RootField } from './root-fields.ts'
import { filterInputs } from './scalar-names.ts'
import { enumType, inputType, objectType, type Sdl, scalarType, unionType } from './sdl.ts'

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
    morphUnion(terms),
    ...(['Query', 'Mutation'] as const).map(name =>
      objectType(
        name,
        roots.filter(({ root }) => root === name).map(root => printRootField(root, format)),
      ),
    ),
  ].filter(definition => definition !== '')
}

function morphUnion(terms: DefinitionTerms): Sdl {
  const { components, contentTypes } = terms.model
  const types = [...contentTypes.values()].filter(type => terms.shadow.shows(type))
  const shown = [...components.values(), ...types].filter(holder => outputFields(holder, terms).length > 0)
  return unionType(MORPH_UNION, shown.map(graphqlTypeName))
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

/** All types of a component (reference/graphql.md#1-names). */
function componentDefinitions(component: Component, terms: FieldTerms): readonly Sdl[] {
  const name = graphqlTypeName(component)
  const names = graphqlWrapperNames(name)
  return [
    ...attributeDefinitions(component, terms.shadow),
    inputType(names.filters, filterFields(component, terms)),
    inputType(names.input, inputFields(component, terms)),
    objectType(name, outputFields(component, terms)),
  ]
}

/** All types of a content-type; unreachable ones are pruned later. */
function contentTypeDefinitions(type: ContentType, terms: FieldTerms): readonly Sdl[] {
  const name = graphqlTypeName(type)
  const names = graphqlWrapperNames(name)
  return [
    ...attributeDefinitions(type, terms.shadow),
    ...(type.kind === 'single' ? [] : [inputType(names.filters, filterFields(type, terms))]),
    inputType(names.input, inputFields(type, terms)),
    objectType(name, outputFields(type, terms)),
    ...wrapperDefinitions(name, terms.format),
  ]
}

/** The objects around documents and their attributes. */
function wrapperDefinitions(name: string, { name: format }: GraphqlFormat): readonly Sdl[] {
  const { entity, response, collection, relation } = graphqlWrapperNames(name)
  if (format === 'flat') {
    const nodes = `nodes: [${name}!]!`
    return [
      objectType(response, [`data: ${name}`]),
      objectType(collection, [nodes, 'pageInfo: Pagination!']),
      objectType(relation, [nodes]),
    ]
  }
  const rows = `data: [${entity}!]!`
  return [
    objectType(entity, ['id: ID', `attributes: ${name}`]),
    objectType(response, [`data: ${entity}`]),
    objectType(collection, [rows, 'meta: ResponseCollectionMeta!']),
    objectType(relation, [rows]),
  ]
}

const attributeDefinitions = (holder: Holder, shadow: EnabledCrud): readonly Sdl[] =>
  [...holder.attributes.values()].flatMap(attribute => attributeDefinition(holder, attribute, shadow))

function attributeDefinition(holder: Holder, attribute: Attribute, shadow: EnabledCrud): readonly Sdl[] {
  const name = graphqlTypeName(holder)
  if (!shadow.has(holder, attribute, 'output') && !shadow.has(holder, attribute, 'input')) return []
  if (attribute.kind === 'zone') {
    const zone = graphqlZoneName(name, attribute.name)
    return [
      unionType(zone, [...attribute.components.map(graphqlTypeName), 'Error']),
      scalarType(`${zone}Input`),
    ]
  }
  if (attribute.kind !== 'scalar' || attribute.type !== 'enumeration') return []
  return [
    enumType(graphqlEnumName(name, attribute.name), [...graphqlEnumValues(attribute.values ?? []).keys()]),
  ]
}
