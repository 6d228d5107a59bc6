import { isDeepStrictEqual } from 'node:util'
import type { Path } from '../../../core/faults/diagnostic.ts'
import type { SchemaChange, SchemaSource } from '../../../core/graphql/compare-schemas.ts'
import type { RolesProject } from '../roles/roles-project.ts'
import { type ApiChange, compareApi, declarationPath, type ModulePlace } from './compare-api.ts'
import { type CodeVersion, compareCode, findText } from './compare-code.ts'

interface ApiVersion {
  readonly project: Pick<RolesProject['project'], 'settings'>
  readonly model: RolesProject['model']
  /** Absent or null: there is none, or it is not compared. */
  readonly code?: CodeVersion | null
}

interface ProtocolChanges {
  readonly rest: readonly ApiChange[]
  readonly graphql: readonly ApiChange[]
}

/** What clients of each protocol notice. GraphQL's changes are those of its schemas, and of the rules of both protocols. */
export async function compareProtocols(before: ApiVersion, after: ApiVersion): Promise<ProtocolChanges> {
  const { compareSchemas } = await import('../../../core/graphql/compare-schemas.ts')
  const version = ({ model, project: { settings } }: ApiVersion) => ({ model, settings })
  const code = before.code && after.code ? compareCode(before.code, after.code) : []
  const changes = [...compareApi(version(before), version(after)), ...code]
  const schemas = compareSchemas(schemaVersion(before), schemaVersion(after))
  const isServed = before.project.settings.graphql.enabled
  return {
    rest: changes.filter(({ scope }) => scope !== 'graphql'),
    graphql: [
      ...schemas.map(change => toApiChange(change, { changes, before, after })),
      ...changes.filter(({ scope }) => isServed && scope !== 'rest'),
    ],
  }
}

const schemaVersion = ({ model, project: { settings }, code }: ApiVersion) => ({
  ...{ model, settings: settings.graphql },
  ...(code && { schemas: code.app.schemas, shadow: code.app.graphql.shadow }),
})

interface SchemaTerms {
  /** A renamed declaration is found by the change of its name. */
  readonly changes: readonly ApiChange[]
  readonly before: ApiVersion
  readonly after: ApiVersion
}

function toApiChange(
  { endpoint, level, message, was, now }: SchemaChange,
  { changes, before, after }: SchemaTerms,
): ApiChange {
  const old = was && sourcePath(was)
  // Without the attribute, its type is all that the new version has of it.
  const isGone = old !== null && now !== null && old.length > (sourcePath(now)?.length ?? 0)
  const renamed = old && changes.find(change => isDeepStrictEqual(change.was, old) && change.now)
  const module = modulePlace(now, after.code, 'now') ?? modulePlace(was, before.code, 'was')
  return {
    ...{ level, scope: 'graphql', message: `${endpoint}: ${message}` },
    ...{ was: old, now: now && !isGone ? sourcePath(now) : (renamed?.now ?? null) },
    ...(module && { module }),
  }
}

/** null: the project declares nothing there, as for roles. */
function sourcePath(source: SchemaSource): Path | null {
  if ('extension' in source) return null
  const { holder, attribute } = source
  if (holder.holder === 'content-type' && holder.builtIn && holder.key !== 'user') return null
  return attribute === null ? declarationPath(holder) : [...declarationPath(holder), 'attributes', attribute]
}

function modulePlace(
  source: SchemaSource | null,
  code: CodeVersion | null | undefined,
  version: ModulePlace['version'],
): ModulePlace | null {
  if (!source || !('extension' in source) || !code) return null
  return { ...findText(code, source.extension, source.name), version }
}
