import type { ProjectFinding } from '../faults.ts'
import type { IsWritten } from '../settings/derive-defaults.ts'
import type { Settings } from '../settings/settings.ts'
import {
  apiTokens,
  jwtSecret,
  objectNames,
  permissionFields,
  registration,
  roleParents,
  tokenCallers,
} from './access.ts'
import { attributeBounds, givenValues } from './attributes.ts'
import { graphqlFormats, graphqlNames, trustedDocuments } from './graphql.ts'
import { locales } from './locales.ts'
import { providerOptions } from './provider-options.ts'
import { cors, durations, endpoints, metrics, pageLimits, replicas, routes } from './server.ts'

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
