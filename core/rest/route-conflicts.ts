import type { ContentType, Model } from '../model/model.ts'
import { type ExtensionRoute, shapeOf } from '../plugins/extension-route.ts'

interface Claim {
  readonly by: string
  readonly method: string
  readonly path: string
}

/** A sentence for each route of an extension that leads where another, or one of the API's own, leads already. */
export function findConflicts(routes: readonly ExtensionRoute[], model: Model): readonly string[] {
  const taken = new Map(builtInClaims(model).map(claim => [keyOf(claim), claim]))
  const faults: string[] = []
  for (const route of routes) {
    const other = taken.get(keyOf(route))
    if (other)
      faults.push(
        `${route.by}: the route ${route.method} ${route.path} is there already: ${other.path} of ${other.by}`,
      )
    else taken.set(keyOf(route), route)
  }
  return faults
}

const keyOf = ({ method, path }: Claim): string => `${method} ${shapeOf(path)}`

const claims = (by: string, path: string, methods: string): readonly Claim[] =>
  methods.split(' ').map(method => ({ by, method, path }))

const builtInClaims = (model: Model): readonly Claim[] => [
  ...[...model.contentTypes.values()].filter(type => !type.builtIn).flatMap(claimsOfType),
  ...BUILT_IN.flatMap(([path, methods]) => claims('the server itself', path, methods)),
]

function claimsOfType({ uid, kind, key, pluralApiId }: ContentType) {
  if (kind === 'single') return claims(uid, `/${key}`, 'GET PUT DELETE')
  return [
    ...claims(uid, `/${pluralApiId}`, 'GET POST'),
    ...claims(uid, `/${pluralApiId}/:documentId`, 'GET PUT DELETE'),
  ]
}

/** What the responders beside the content-types' answer. */
const BUILT_IN: readonly (readonly [string, string])[] = [
  ['/auth/local', 'POST'],
  ['/auth/local/register', 'POST'],
  ['/auth/change-password', 'POST'],
  ['/auth/forgot-password', 'POST'],
  ['/auth/reset-password', 'POST'],
  ['/auth/send-email-confirmation', 'POST'],
  ['/auth/email-confirmation', 'GET'],
  ['/users', 'GET POST'],
  ['/users/count', 'GET'],
  ['/users/me', 'GET'],
  ['/users/:id', 'GET PUT DELETE'],
  ['/users-permissions/roles', 'GET'],
  ['/users-permissions/roles/:id', 'GET'],
  ['/users-permissions/permissions', 'GET'],
  ['/i18n/locales', 'GET'],
  ['/upload', 'POST'],
  ['/upload/files', 'GET'],
  ['/upload/files/:id', 'GET DELETE'],
]
