import type { FormatName } from '../formats/format.ts'

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
export const USERS = `
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

export const FIXED_DEFINITIONS: Readonly<Record<FormatName, FixedDefinitions>> = {
  nested: { types: SHARED_TYPES + NESTED_TYPES, signIn: signIn('id: ID!'), uploads: NESTED_UPLOADS },
  flat: {
    types: SHARED_TYPES + FLAT_TYPES,
    signIn: signIn('id: ID! documentId: ID!'),
    uploads: FLAT_UPLOADS,
  },
}
