import { componentTableName } from './declarations.ts'
import { identifier } from './identifiers.ts'
import type { StorageLayout } from './layout.ts'
import type { ContentType, Holder, Model } from './model.ts'
import { toPlural, toSnakeCase } from './names.ts'

/** What every table is built from. */
export interface SchemaInput {
  readonly model: Model
  readonly layout: StorageLayout
  /** Old code → new. */
  readonly renamedLocales: ReadonlyMap<string, string>
  readonly expected: ExpectedLists | null
}

/**
 * Attributes that lists of a type will be narrowed by, together. Given at all, lists by stamps are expected, too;
 * null: nothing is.
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

/** The name that the table of a renamed type or component had, unless it was given by `tableName`. */
export function formerTableName({ holder, renamedFrom, tableName }: Holder): string | undefined {
  if (renamedFrom === undefined) return undefined
  const former = holder === 'component' ? componentTableName(renamedFrom) : toSnakeCase(toPlural(renamedFrom))
  return former === tableName ? undefined : identifier(former)
}
