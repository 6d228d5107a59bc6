import { type Action, subjectOf } from '../../access/actions.ts'
import type { PermissionScope } from '../../access/permission-scopes.ts'
import { isLink, type Model } from '../../model/model.ts'
import { graphqlTypeName } from '../../model/names.ts'
import {
  type Authorize,
  compileAuthorize,
  type RouteAuth,
  type RouteAuthOptions,
} from '../../plugins/route-guard.ts'
import type { GraphqlFormat } from '../formats/format.ts'
import type { RootField } from '../sdl/root-fields.ts'

export interface FieldAuth {
  enter(field: AuthField): Authorize
}

interface AuthField {
  readonly coordinate: string
  readonly isGenerated: boolean
  readonly auth: RouteAuth
}

interface FieldAuthOptions {
  readonly model: Model
  readonly format: GraphqlFormat
  readonly code: RouteAuthOptions
}

/** Access rules of fields (reference/graphql.md#8-permissions, reference/graphql.md#9-extension-service). */
export function openFieldAuth(
  roots: readonly RootField[],
  { model, format, code }: FieldAuthOptions,
): FieldAuth {
  const scopes = new Map([...rootScopes(roots), ...linkScopes(model, format)])
  return {
    enter({ coordinate, isGenerated, auth }) {
      const own = scopes.get(coordinate) ?? null
      if (auth.kind !== 'own')
        return compileAuthorize(auth, own ?? FIXED_SCOPES.get(coordinate) ?? null, code)
      // Fixed fields check their own permission; custom fields below the root have none.
      const asks = own !== null || (!isGenerated && isRoot(coordinate))
      return asks ? compileAuthorize(auth, own, code) : caller => caller
    },
  }
}

const isRoot = (coordinate: string): boolean => /^(Query|Mutation)\./.test(coordinate)

const rootScopes = (roots: readonly RootField[]): readonly (readonly [string, PermissionScope])[] =>
  roots.map(({ root, name, type, action }) => [
    `${root}.${name}`,
    { subject: subjectOf(type), action: action === 'localize' ? 'createLocalization' : action },
  ])

/** Media need no permission beyond their document's; all other links need `find` on their target. */
const linkScopes = (model: Model, format: GraphqlFormat): readonly (readonly [string, PermissionScope])[] =>
  [...model.contentTypes.values(), ...model.components.values()].flatMap(holder =>
    [...holder.attributes.values()]
      .filter(isLink)
      .filter(({ kind }) => kind !== 'media')
      .flatMap(attribute =>
        format
          .linkFields(attribute)
          .map(([name]): readonly [string, PermissionScope] => [
            `${graphqlTypeName(holder)}.${name}`,
            { subject: subjectOf(attribute.target), action: 'find' },
          ]),
      ),
  )

const mutationScopes = (subject: string, actions: Readonly<Record<string, Action>>) =>
  Object.entries(actions).map(([name, action]): readonly [string, PermissionScope] => [
    `Mutation.${name}`,
    { subject, action },
  ])

/** Permissions of the fixed mutations. */
const FIXED_SCOPES: ReadonlyMap<string, PermissionScope> = new Map([
  ...mutationScopes('auth', {
    login: 'login',
    register: 'register',
    forgotPassword: 'forgotPassword',
    resetPassword: 'resetPassword',
    changePassword: 'changePassword',
    emailConfirmation: 'emailConfirmation',
  }),
  ...mutationScopes('users', {
    createUsersPermissionsUser: 'create',
    updateUsersPermissionsUser: 'update',
    deleteUsersPermissionsUser: 'delete',
  }),
  ...mutationScopes('upload', {
    upload: 'upload',
    multipleUpload: 'upload',
    updateFileInfo: 'update',
    updateUploadFile: 'update',
    removeFile: 'delete',
    deleteUploadFile: 'delete',
  }),
])
