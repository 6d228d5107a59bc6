import { apiTokens } from './checks/api-tokens.ts'
import { attributeBounds } from './checks/attribute-bounds.ts'
import { cors } from './checks/cors.ts'
import { durations } from './checks/durations.ts'
import { endpoints } from './checks/endpoints.ts'
import { givenValues } from './checks/given-values.ts'
import { graphqlNames } from './checks/graphql-names.ts'
import { jwtSecret } from './checks/jwt-secret.ts'
import { limits } from './checks/limits.ts'
import { locales } from './checks/locales.ts'
import { metrics } from './checks/metrics.ts'
import { objectNames } from './checks/object-names.ts'
import { permissionFields } from './checks/permission-fields.ts'
import { providerOptions } from './checks/provider-options.ts'
import { registration } from './checks/registration.ts'
import { replicas } from './checks/replicas.ts'
import { roleParents } from './checks/role-parents.ts'
import { routes } from './checks/routes.ts'
import type { Rule } from './checks/rule.ts'
import { tokenCallers } from './checks/token-callers.ts'
import { trustedDocuments } from './checks/trusted-documents.ts'

/** What a file must keep besides its schema, in the order of its sections. What takes the compiled model to judge is the model's. */
export const rules: readonly Rule[] = [
  cors,
  durations,
  metrics,
  replicas,
  locales,
  limits,
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
