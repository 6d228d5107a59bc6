import type { ProjectFinding } from '../faults.ts'
import type { IsWritten } from '../settings/derive-defaults.ts'
import type { Settings } from '../settings/settings.ts'
import { apiTokens } from './api-tokens.ts'
import { attributeBounds, givenValues } from './attributes.ts'
import { jwtSecret, registration } from './auth.ts'
import { graphqlFormats, graphqlNames, trustedDocuments } from './graphql.ts'
import { durations, pageLimits } from './limits.ts'
import { locales } from './locales.ts'
import { permissionFields, tokenCallers } from './permissions.ts'
import { providerOptions } from './provider-options.ts'
import { objectNames, roleParents } from './roles.ts'
import { routes } from './routes.ts'
import { cors, endpoints, metrics, replicas } from './server.ts'

/** The checks beyond the schema, in the order of the sections. Checks that need the compiled model are in core/model/check. */
export const rules: readonly ProjectRule[] = [
  cors,
  durations,
  metrics,
  replicas,
  locales,
  pageLimits,
  graphqlNames,
  graphqlFormats,
  trustedDocuments,
  endpoints,
  attributeBounds,
  givenValues,
  objectNames,
  roleParents,
  permissionFields,
  apiTokens,
  tokenCallers,
  routes,
  jwtSecret,
  registration,
  providerOptions,
]

/** A check that the schema cannot express. Yields every violation. */
type ProjectRule = (settings: Settings, isWritten: IsWritten) => Iterable<ProjectFinding>
