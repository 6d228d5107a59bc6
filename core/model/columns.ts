import type { Model } from './model.ts'
import type { Column, ColumnType } from './storage.ts'

/** Short ways to write the columns that no attribute stands for. */
export const identity = (name: string): Column => ({
  name,
  type: 'integer',
  nullable: false,
  generated: 'identity',
})

export const required = (name: string, type: ColumnType): Column => ({
  name,
  type,
  nullable: false,
  generated: null,
})

export const optional = (name: string, type: ColumnType): Column => ({
  name,
  type,
  nullable: true,
  generated: null,
})

/** A column of locale codes: renamed locales are renamed in it. */
export function localeColumn(column: Column, renamed: ReadonlyMap<string, string>): Column {
  return renamed.size === 0 ? column : { ...column, renamedValues: renamed }
}

/** The locale of a row that goes with its locale. */
export const versionLocale = (
  column: Column,
  { locales }: Pick<Model, 'locales'>,
  renamed: ReadonlyMap<string, string>,
): Column => ({ ...localeColumn(column, renamed), only: locales.map(({ code }) => code) })
