import { trackWrites } from '../database/request-scope.ts'
import type { Responder } from '../faults/http-exchange.ts'
import { openLazyGraphql } from '../graphql/lazy-graphql.ts'
import { withIdempotency } from '../idempotency/with-idempotency.ts'
import type { IdentityTerms } from '../identity/identity.ts'
import type { Files } from '../media/files.ts'
import type { Observer } from '../observe/observation.ts'
import { compileGuards } from '../plugins/register.ts'
import { limitApiRate } from '../rest/api-rate-limit.ts'
import { byFirstWord } from '../rest/endpoint.ts'
import { openExtensionRoutes } from '../rest/extension-routes.ts'
import { openLocales } from '../rest/i18n-locales.ts'
import { openRest } from '../rest/open-rest.ts'
import { openUploads } from '../rest/upload/open-uploads.ts'
import { openAuthRoutes } from '../rest/users/auth.ts'
import { openRoleRoutes } from '../rest/users/roles.ts'
import { openUserRoutes } from '../rest/users/users.ts'
import type { Blueprint } from './compile-app.ts'
import type { DocumentsSection } from './documents-section.ts'
import type { IdentitySection } from './identity-section.ts'
import { guardOptionsOf, type RegisteredApp } from './open-plugins.ts'

export interface EndpointOptions {
  readonly registered: RegisteredApp
  readonly observer: Observer
  readonly production: boolean
  readonly identity: IdentityTerms
  readonly documents: DocumentsSection
  readonly accounts: IdentitySection
  readonly files: Files
}

/** What REST and GraphQL have in common. */
function sharedOptions(blueprint: Blueprint, { registered, observer, documents, accounts }: EndpointOptions) {
  const { identify } = accounts
  const guarding = guardOptionsOf(blueprint, { registered, identify, observer })
  return {
    guarding,
    model: blueprint.model,
    settings: blueprint.project.settings.rest,
    documents: documents.documents,
    around: documents.around,
    identify,
    guards: compileGuards(registered, guarding),
  }
}

type SharedOptions = ReturnType<typeof sharedOptions>

/** All endpoints in order: rate limit, extension routes that come first, REST, other extension routes, GraphQL. */
export function openEndpoints(blueprint: Blueprint, options: EndpointOptions): readonly Responder[] {
  const { rest, server, graphql } = blueprint.project.settings
  const { registered, identity, accounts } = options
  const { guarding, ...shared } = sharedOptions(blueprint, options)
  const extensions = openExtensionRoutes(registered.routes, rest.prefix, guarding)
  const responders = [
    ...extensions.first.map(trackWrites),
    ...openRestSection(blueprint, options, shared),
    ...extensions.last,
    ...(graphql.enabled ? [openGraphqlSection(blueprint, options, { guarding, ...shared })] : []),
  ]
  return [
    ...limitApiRate(server.rateLimit.api, [rest.prefix, ...Object.keys(graphql.endpoints)]),
    withIdempotency(responders, {
      database: identity.database,
      identify: accounts.identify,
      closed: [`${rest.prefix}/auth`.toLowerCase()],
    }),
  ]
}

function openRestSection(
  { access }: Blueprint,
  { files, accounts: { auth, users } }: EndpointOptions,
  shared: Omit<SharedOptions, 'guarding'>,
): readonly Responder[] {
  return [
    byFirstWord(shared.settings.prefix, {
      upload: trackWrites(openUploads({ ...shared, files })),
      auth: trackWrites(openAuthRoutes({ ...shared, auth })),
      users: trackWrites(openUserRoutes({ ...shared, users })),
      'users-permissions': openRoleRoutes({ ...shared, access }),
      i18n: openLocales(shared),
    }),
    openRest(shared),
  ]
}

function openGraphqlSection(
  { project }: Blueprint,
  { registered, files, accounts: { auth, users }, observer, production }: EndpointOptions,
  { guarding, ...shared }: SharedOptions,
): Responder {
  const { schemas, graphql, trusted } = registered
  return openLazyGraphql({
    ...shared,
    shadow: graphql.shadow,
    ...(trusted && { trusted }),
    ...(schemas && { compiled: schemas, code: guarding }),
    ...{ auth, users, files, observer, production },
    settings: project.settings.graphql,
  })
}
