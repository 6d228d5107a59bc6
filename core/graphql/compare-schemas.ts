import { DangerousChangeType, findBreakingChanges, findDangerousChanges } from 'graphql'
import type { Model } from '../model/model.ts'
import type { GraphqlSettings } from '../project/settings/settings.ts'
import { compileGenerated } from './compile-schema.ts'

/** A change of the generated schema that clients may notice. */
export interface SchemaChange {
  /** The path of an endpoint of both versions. */
  readonly endpoint: string
  readonly level: 'breaking' | 'risky'
  /** `Article.title was removed.` */
  readonly message: string
}

interface SchemaVersion {
  readonly model: Model
  readonly settings: GraphqlSettings
}

/** The changes of the generated schemas between two versions of a project, for each endpoint that both serve in one format. */
export function compareSchemas(before: SchemaVersion, after: SchemaVersion): readonly SchemaChange[] {
  if (!before.settings.enabled || !after.settings.enabled) return []
  return Object.entries(before.settings.endpoints).flatMap(([endpoint, format]) => {
    if (after.settings.endpoints[endpoint] !== format) return []
    const [old, now] = [before, after].map(version => compileGenerated({ ...version, format }).schema)
    if (!old || !now) return []
    const toChange =
      (level: SchemaChange['level']) =>
      ({ description }: { readonly description: string }): SchemaChange => ({
        endpoint,
        level,
        message: description,
      })
    return [
      ...findBreakingChanges(old, now).map(toChange('breaking')),
      ...findDangerousChanges(old, now)
        .filter(({ type }) => !UNNOTICED.has(type))
        .map(toChange('risky')),
    ]
  })
}

/** Optional inputs change no request that clients send today. */
const UNNOTICED: ReadonlySet<DangerousChangeType> = new Set([
  DangerousChangeType.OPTIONAL_ARG_ADDED,
  DangerousChangeType.OPTIONAL_INPUT_FIELD_ADDED,
])
