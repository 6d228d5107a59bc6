import type { ProjectFinding } from '../faults.ts'
import type { IsWritten } from '../settings/derive-defaults.ts'
import type { Settings } from '../settings/settings.ts'
import { apiTokens } from './api-tokens.ts'
import { attributeBounds } from './attribute-bounds.ts'
import { cors } from './cors.ts'
import { durations } from './durations.ts'
import { endpoints } from './endpoints.ts'
import { givenValues } from './given-values.ts'
import { graphqlNames } from './graphql-names.ts'
import { jwtSecret } from './jwt-secret.ts'
import { pageLimits } from './limits.ts'
import { locales } from './locales.ts'
import { metrics } from './metrics.ts'
import { objectNames } from './object-names.ts'
import { permissionFields } from './permission-fields.ts'
import { providerOptions } from './provider-options.ts'
import { registration } from './registration.ts'
import { replicas } from './replicas.ts'
import { roleParents } from './role-parents.ts'
import { routes } from './routes.ts'
import { tokenCallers } from './token-callers.ts'
import { trustedDocuments } from './trusted-documents.ts'

/** The checks beyond the schema, in the order of the sections. Checks that need the compiled model are in core/model/check. */
export const rules: readonly ProjectRule[] = [
  cors,
  durations,
  metrics,
  replicas,
  locales,
  pageLimits,
  graphqlNames,
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
