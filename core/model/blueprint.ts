import { componentTableName } from './declarations.ts'
import { identifier } from './identifiers.ts'
import type { StorageLayout } from './layout.ts'
import type { ContentType, Holder, Model } from './model.ts'
import { toPlural, toSnakeCase } from './names.ts'

/** The input of every table. */
export interface SchemaInput {
  readonly model: Model
  readonly layout: StorageLayout
  /** Renamed locales: old code → new code. */
  readonly renamedLocales: ReadonlyMap<string, string>
  readonly expected: ExpectedLists | null
}

/**
 * Attribute lists that queries are expected to filter each type by. If given, lists sorted by timestamps are expected,
 * too; null: no derived indexes.
 */
export type ExpectedLists = ReadonlyMap<ContentType, readonly (readonly string[])[]>

export const toSchemaInput = (
  model: Model,
  layout: StorageLayout,
  expected: ExpectedLists | null,
): SchemaInput => ({
  model,
  layout,
  expected,
  renamedLocales: renamedLocales(model),
})

export const renamedLocales = ({ locales }: Model): ReadonlyMap<string, string> =>
  new Map(
    locales.flatMap(({ code, renamedFrom }): [string, string][] =>
      renamedFrom === undefined ? [] : [[renamedFrom, code]],
    ),
  )

/** The former table name of a renamed type or component, unless `tableName` fixes it. */
export function formerTableName({ holder, renamedFrom, tableName }: Holder): string | undefined {
  if (renamedFrom === undefined) return undefined
  const former = holder === 'component' ? componentTableName(renamedFrom) : toSnakeCase(toPlural(renamedFrom))
  return former === tableName ? undefined : identifier(former)
}
