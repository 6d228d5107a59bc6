import { didYouMean } from '../../base/nearest.ts'
import type { ProjectFinding } from '../faults.ts'
import type { IsWritten } from '../settings/derive-defaults.ts'
import type { Settings } from '../settings/settings.ts'

/** Content-types and attributes named under `graphql` must exist. */
export function* graphqlNames({ graphql, contentTypes }: Settings): Generator<ProjectFinding> {
  for (const [key, { fields }] of Object.entries(graphql.shadowCRUD)) {
    const path = ['graphql', 'shadowCRUD', key]
    const type = Object.hasOwn(contentTypes, key) ? contentTypes[key] : undefined
    if (type === undefined) {
      const message = `unknown content-type \`${key}\`${didYouMean(key, Object.keys(contentTypes))}`
      yield { code: 'unknown-name', message, path, atKey: true }
    } else yield* unknownFields(Object.keys(fields), Object.keys(type.attributes), path)
  }
}

/** `graphql.endpoints` gives all paths their formats; the keys for one endpoint must not contradict it. */
export function* graphqlFormats({ graphql }: Settings, isWritten: IsWritten): Generator<ProjectFinding> {
  if (!isWritten('graphql', 'endpoints')) return
  const { endpoint, v4CompatibilityMode } = graphql.config
  const format = graphql.endpoints[endpoint]
  const path = ['graphql', 'config']
  if (isWritten(...path, 'endpoint') && format === undefined)
    yield {
      code: 'conflict',
      message: `\`${endpoint}\` is not a path of \`graphql.endpoints\``,
      path: [...path, 'endpoint'],
    }
  else if (isWritten(...path, 'v4CompatibilityMode') && (format === 'nested') !== v4CompatibilityMode)
    yield {
      code: 'conflict',
      message: '`graphql.endpoints` gives this endpoint another format',
      path: [...path, 'v4CompatibilityMode'],
    }
}

/** Fields of the generated schema that are not declared attributes. */
const SYSTEM_FIELDS = ['createdAt', 'updatedAt', 'publishedAt', 'locale', 'localizations']

function* unknownFields(
  fields: readonly string[],
  declared: readonly string[],
  path: readonly string[],
): Generator<ProjectFinding> {
  const known = [...declared, ...SYSTEM_FIELDS]
  for (const field of fields) {
    if (known.includes(field)) continue
    const message = `\`${path.at(-1)}\` has no attribute \`${field}\`${didYouMean(field, known)}`
    yield { code: 'unknown-name', message, path: [...path, 'fields', field], atKey: true }
  }
}

/** `only: true` needs a folder of trusted documents. */
export function* trustedDocuments({ graphql }: Settings): Generator<ProjectFinding> {
  const { folder, only } = graphql.config.trustedDocuments
  if (!only || folder !== null) return
  const path = ['graphql', 'config', 'trustedDocuments', 'only']
  yield {
    code: 'conflict',
    message: '`only: true` without a `folder` would refuse every request',
    path,
    atKey: true,
  }
}
