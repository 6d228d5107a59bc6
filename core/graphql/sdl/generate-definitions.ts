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
import type { FormatName, GraphqlFormat } from '../formats/format.ts'
import {
  type FieldOptions,
  filterFields,
  inputFields,
  MORPH_UNION,
  outputFields,
} from './attribute-fields.ts'
import type { EnabledCrud, ShadowAction } from './enabled-crud.ts'
import { printRootField, type RootField } from './root-fields.ts'
import { filterInputs } from './scalar-names.ts'
import { enumType, inputType, objectType, type Sdl, scalarType, unionType } from './sdl.ts'

export interface DefinitionOptions {
  readonly model: Model
  readonly shadow: EnabledCrud
  readonly format: GraphqlFormat
  readonly roots: readonly RootField[]
  /** false: only the minimum that extensions can build on (reference/graphql.md#11-limits-playground-and-introspection). */
  readonly generatesTypes: boolean
}

/** All definitions of the generated schema; unreachable ones are pruned later. */
export function generateDefinitions(options: DefinitionOptions): readonly (Sdl | DocumentNode)[] {
  const { model, shadow, format, roots, generatesTypes: generates } = options
  const fixed = FIXED_DEFINITIONS[format.name]
  if (!generates) return [fixed.types, objectType('Query', ['ok: Boolean'])]
  return [
    fixed.types,
    fixed.signIn,
    ...withoutDisabled([fixed.uploads, USERS], options),
    ...filterInputs(),
    ...[...model.components.values()].flatMap(component => componentDefinitions(component, options)),
    ...[...model.contentTypes.values()]
      .filter(type => shadow.hasType(type))
      .flatMap(type => contentTypeDefinitions(type, options)),
    morphUnion(options),
    ...(['Query', 'Mutation'] as const).map(name =>
      objectType(
        name,
        roots.filter(({ root }) => root === name).map(root => printRootField(root, format)),
      ),
    ),
  ].filter(definition => definition !== '')
}

function morphUnion(options: DefinitionOptions): Sdl {
  const { components, contentTypes } = options.model
  const types = [...contentTypes.values()].filter(type => options.shadow.hasType(type))
  const shown = [...components.values(), ...types].filter(holder => outputFields(holder, options).length > 0)
  return unionType(MORPH_UNION, shown.map(graphqlTypeName))
}

/** The actions of the file mutations. */
const FILE_MUTATIONS: Readonly<Record<string, ShadowAction>> = {
  upload: 'create',
  multipleUpload: 'create',
  updateFileInfo: 'update',
  removeFile: 'delete',
}

function disabledMutations({ model: { builtIn }, shadow }: DefinitionOptions): ReadonlySet<string> {
  const names = (['user', 'role', 'file'] satisfies (keyof BuiltInTypes)[]).flatMap(key => {
    const type = builtIn[key]
    const own = graphqlMutationNames(type)
    const mutations = (['create', 'update', 'delete'] as const).map(action => [own[action], action] as const)
    const all = key === 'file' ? [...mutations, ...Object.entries(FILE_MUTATIONS)] : mutations
    return all.filter(([, action]) => !shadow.hasAction(type, action)).map(([name]) => name)
  })
  return new Set(names)
}

function withoutDisabled(texts: readonly Sdl[], options: DefinitionOptions): readonly (Sdl | DocumentNode)[] {
  const off = disabledMutations(options)
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
function componentDefinitions(component: Component, options: FieldOptions): readonly Sdl[] {
  const name = graphqlTypeName(component)
  const names = graphqlWrapperNames(name)
  return [
    ...attributeDefinitions(component, options.shadow),
    inputType(names.filters, filterFields(component, options)),
    inputType(names.input, inputFields(component, options)),
    objectType(name, outputFields(component, options)),
  ]
}

/** All types of a content-type; unreachable ones are pruned later. */
function contentTypeDefinitions(type: ContentType, options: FieldOptions): readonly Sdl[] {
  const name = graphqlTypeName(type)
  const names = graphqlWrapperNames(name)
  return [
    ...attributeDefinitions(type, options.shadow),
    ...(type.kind === 'single' ? [] : [inputType(names.filters, filterFields(type, options))]),
    inputType(names.input, inputFields(type, options)),
    objectType(name, outputFields(type, options)),
    ...wrapperDefinitions(name, options.format),
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
  if (!shadow.hasAttribute(holder, attribute, 'output') && !shadow.hasAttribute(holder, attribute, 'input'))
    return []
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

/** Definitions of both formats (reference/graphql.md#2-generated-types, reference/graphql.md#3-scalars). */
const SHARED_TYPES = `
  "The \`JSON\` scalar type represents JSON values as specified by [ECMA-404](http://www.ecma-international.org/publications/files/ECMA-ST/ECMA-404.pdf)."
  scalar JSON @specifiedBy(url: "http://www.ecma-international.org/publications/files/ECMA-ST/ECMA-404.pdf")

  "A date-time string at UTC, such as 2007-12-03T10:15:30Z, compliant with the \`date-time\` format outlined in section 5.6 of the RFC 3339 profile of the ISO 8601 standard for representation of dates and times using the Gregorian calendar."
  scalar DateTime

  "A time string with format HH:mm:ss.SSS"
  scalar Time

  "A date string, such as 2007-12-03, compliant with the \`full-date\` format outlined in section 5.6 of the RFC 3339 profile of the ISO 8601 standard for representation of dates and times using the Gregorian calendar."
  scalar Date

  "The \`BigInt\` scalar type represents non-fractional signed whole numeric values."
  scalar Long

  "A string used to identify an i18n locale"
  scalar I18NLocaleCode

  type Error { code: String! message: String }
  type Pagination { total: Int! page: Int! pageSize: Int! pageCount: Int! }
  input PaginationArg { page: Int pageSize: Int start: Int limit: Int }
`

const NESTED_TYPES = `
  "The \`Upload\` scalar type represents a file upload."
  scalar Upload

  type ResponseCollectionMeta { pagination: Pagination! }
  enum PublicationState { LIVE PREVIEW }
`

const FLAT_TYPES = `
  type DeleteMutationResponse { documentId: ID! }
  enum PublicationStatus { DRAFT PUBLISHED }
  enum PublicationFilter {
    NEVER_PUBLISHED HAS_PUBLISHED_VERSION MODIFIED UNMODIFIED NEVER_PUBLISHED_DOCUMENT HAS_PUBLISHED_VERSION_DOCUMENT
    PUBLISHED_WITHOUT_DRAFT PUBLISHED_WITH_DRAFT
  }
`

/** Signing in (reference/graphql.md#7-users). `ids`: the ids of `UsersPermissionsMe`. */
const signIn = (ids: string) => `
  type UsersPermissionsMe { ${ids} username: String! email: String confirmed: Boolean blocked: Boolean role: UsersPermissionsMeRole }
  type UsersPermissionsMeRole { id: ID! name: String! description: String type: String }
  input UsersPermissionsRegisterInput { username: String! email: String! password: String! }
  input UsersPermissionsLoginInput { identifier: String! password: String! provider: String! = "local" }
  type UsersPermissionsPasswordPayload { ok: Boolean! }
  type UsersPermissionsLoginPayload { jwt: String user: UsersPermissionsMe! }

  type Query { me: UsersPermissionsMe }
  type Mutation {
    login(input: UsersPermissionsLoginInput!): UsersPermissionsLoginPayload!
    "Register a user"
    register(input: UsersPermissionsRegisterInput!): UsersPermissionsLoginPayload!
    "Request a reset password token"
    forgotPassword(email: String!): UsersPermissionsPasswordPayload
    "Reset user password. Confirm with a code (resetToken from forgotPassword)"
    resetPassword(password: String!, passwordConfirmation: String!, code: String!): UsersPermissionsLoginPayload
    "Change user password. Confirm with the current password."
    changePassword(currentPassword: String!, password: String!, passwordConfirmation: String!): UsersPermissionsLoginPayload
    "Confirm an email users email address"
    emailConfirmation(confirmation: String!): UsersPermissionsLoginPayload
  }
`

/** Users and roles (reference/graphql.md#7-users); those of roles are there to be refused: roles live in project.yaml. */
const USERS = `
  type UsersPermissionsCreateRolePayload { ok: Boolean! }
  type UsersPermissionsUpdateRolePayload { ok: Boolean! }
  type UsersPermissionsDeleteRolePayload { ok: Boolean! }

  type Mutation {
    "Create a new role"
    createUsersPermissionsRole(data: UsersPermissionsRoleInput!): UsersPermissionsCreateRolePayload
    "Update an existing role"
    updateUsersPermissionsRole(id: ID!, data: UsersPermissionsRoleInput!): UsersPermissionsUpdateRolePayload
    "Delete an existing role"
    deleteUsersPermissionsRole(id: ID!): UsersPermissionsDeleteRolePayload
    "Create a new user"
    createUsersPermissionsUser(data: UsersPermissionsUserInput!): UsersPermissionsUserEntityResponse!
    "Update an existing user"
    updateUsersPermissionsUser(id: ID!, data: UsersPermissionsUserInput!): UsersPermissionsUserEntityResponse!
    "Delete an existing user"
    deleteUsersPermissionsUser(id: ID!): UsersPermissionsUserEntityResponse!
  }
`

/** Files (reference/graphql.md#6-writing, the last point). */
const NESTED_UPLOADS = `
  input FileInfoInput { name: String alternativeText: String caption: String }

  type Mutation {
    upload(refId: ID, ref: String, field: String, info: FileInfoInput, file: Upload!): UploadFileEntityResponse!
    multipleUpload(refId: ID, ref: String, field: String, files: [Upload]!): [UploadFileEntityResponse]!
    updateFileInfo(id: ID!, info: FileInfoInput): UploadFileEntityResponse!
    removeFile(id: ID!): UploadFileEntityResponse
    updateUploadFile(id: ID!, data: UploadFileInput!): UploadFileEntityResponse
    deleteUploadFile(id: ID!): UploadFileEntityResponse
  }
`

const FLAT_UPLOADS = `
  input FileInfoInput { name: String alternativeText: String caption: String }

  type Mutation {
    updateUploadFile(id: ID!, info: FileInfoInput): UploadFile!
    deleteUploadFile(id: ID!): UploadFile
  }
`

interface FixedDefinitions {
  readonly types: string
  readonly signIn: string
  readonly uploads: string
}

const FIXED_DEFINITIONS: Readonly<Record<FormatName, FixedDefinitions>> = {
  nested: { types: SHARED_TYPES + NESTED_TYPES, signIn: signIn('id: ID!'), uploads: NESTED_UPLOADS },
  flat: {
    types: SHARED_TYPES + FLAT_TYPES,
    signIn: signIn('id: ID! documentId: ID!'),
    uploads: FLAT_UPLOADS,
  },
}
