import { isRecord } from '../../base/plain-data.ts'
import type { Column, SchemaShape, Table } from '../../model/storage.ts'
import { qualified, quoteConstant } from '../../sql/ddl.ts'
import type { OwnedParts } from './catalogue.ts'
import { refusal, type SchemaRefusal } from './finding.ts'

type ReadParts =
  | { readonly name: string; readonly parts: OwnedParts }
  | { readonly damaged: readonly SchemaRefusal[] }

/** A row of `plinth_tables` as JSON, or what is wrong with each of its columns, with the statement that repairs it. */
export function parseOwnedParts(schema: string, name: string, json: string): ReadParts {
  const row: Readonly<Record<string, unknown>> = JSON.parse(json)
  const damaged = Object.entries(COLUMNS).flatMap(([column, { isValid, expected, restored }]) => {
    if (isValid(row[column])) return []
    const where = `${qualified(schema, 'plinth_tables')} SET ${column} = ${restored(schema, name)} WHERE name = ${quoteConstant(name)}`
    const what = `the record of table "${name}" in plinth_tables was changed by hand: its ${column} must be ${expected}`
    return [refusal('damaged-record', name, `${what}. Restore it with: UPDATE ${where}`)]
  })
  if (damaged.length > 0) return { damaged }
  const { serves, columns, indexes, constraints, kinds, shape } = row as unknown as ValidRow
  return {
    name,
    parts: {
      serves,
      columns: new Set(columns),
      indexes: new Set(indexes),
      constraints: new Set(constraints),
      kinds: new Map(Object.entries(kinds ?? {})),
      shape: shape ?? null,
    },
  }
}

/** The kind that `plinth_tables` records for a column: an attribute's type, or its allowed values. */
export function columnKindOf({ attribute, only }: Column): string | null {
  if (only !== undefined) return JSON.stringify(only)
  return attribute?.kind === 'scalar' ? attribute.type : null
}

/** A table whose row of `plinth_tables` was deleted, although its triggers or its name say that Plinth made it. */
export function refuseMissingRecord(schema: string, { name, serves }: Table): SchemaRefusal {
  const columns = ['columns', 'indexes', 'constraints'] as const
  const values = [
    quoteConstant(name),
    quoteConstant(serves),
    ...columns.map(each => COLUMNS[each].restored(schema, name)),
  ]
  const insert = `INSERT INTO ${qualified(schema, 'plinth_tables')} (name, serves, ${columns.join(', ')}) SELECT ${values.join(', ')}`
  const what = `the record of table "${name}" (${serves}) in plinth_tables was deleted by hand`
  return refusal('damaged-record', name, `${what}. Restore it with: ${insert}`)
}

interface ValidRow {
  readonly serves: string
  readonly columns: readonly string[]
  readonly indexes: readonly string[]
  readonly constraints: readonly string[]
  readonly kinds?: Readonly<Record<string, string>> | null
  readonly shape?: SchemaShape | null
}

interface RecordColumn {
  isValid(value: unknown): boolean
  /** Continues `must be`. */
  readonly expected: string
  /** SQL for a value that Plinth can continue with. */
  restored(schema: string, table: string): string
}

const isTexts = (value: unknown): boolean =>
  Array.isArray(value) && value.every(each => typeof each === 'string')

const names = (select: (table: string) => string): RecordColumn => ({
  isValid: isTexts,
  expected: 'a list of names',
  restored: (schema, table) =>
    `(SELECT coalesce(jsonb_agg(name), '[]') FROM (${select(`to_regclass(${quoteConstant(qualified(schema, table))})`)}) AS own (name))`,
})

/** Older versions of Plinth recorded neither `kinds` nor `shape`, so both may be missing. */
const COLUMNS = {
  columns: names(
    table => `SELECT attname FROM pg_attribute WHERE attrelid = ${table} AND attnum > 0 AND NOT attisdropped`,
  ),
  indexes: names(
    table =>
      `SELECT relname FROM pg_class JOIN pg_index ON indexrelid = oid WHERE indrelid = ${table} AND NOT indisprimary`,
  ),
  constraints: names(
    table => `SELECT conname FROM pg_constraint WHERE conrelid = ${table} AND contype IN ('c', 'f')`,
  ),
  kinds: {
    isValid: value =>
      value === undefined || value === null || (isRecord(value) && isTexts(Object.values(value))),
    expected: 'an object of texts',
    restored: () => `'{}'`,
  },
  shape: {
    isValid: value => value === undefined || value === null || isShape(value),
    expected: 'what a migration has written',
    restored: () => 'NULL',
  },
} satisfies Readonly<Record<string, RecordColumn>>

function isShape(value: unknown): boolean {
  if (!isRecord(value)) return false
  const { uid, holder, drafts, locale, attributes } = value
  return (
    typeof uid === 'string' &&
    (holder === 'content-type' || holder === 'component') &&
    typeof drafts === 'boolean' &&
    (locale === null || typeof locale === 'string') &&
    Array.isArray(attributes) &&
    attributes.every(isAttributeShape)
  )
}

/** What the comparison reads of an attribute, by its kind. */
function isAttributeShape(value: unknown): boolean {
  if (!isRecord(value) || typeof value.name !== 'string') return false
  switch (value.kind) {
    case 'value':
      return typeof value.column === 'string'
    case 'inverse':
      return typeof value.target === 'string' && typeof value.counterpart === 'string'
    case 'parts':
      return typeof value.owner === 'string' && isTexts(value.components)
    case 'link':
      return typeof value.target === 'string' && isLink(value.link)
    default:
      return false
  }
}

function isLink(value: unknown): boolean {
  if (!isRecord(value)) return false
  const { kind, key, draftKey, locale, draftLocale, inversePosition, table, owner } = value
  if (kind === 'table') return typeof table === 'string' && Array.isArray(owner) && owner.every(isTexts)
  const others = [draftKey, locale, draftLocale, inversePosition]
  return kind === 'column' && isTexts([key, ...others.filter(each => each !== null && each !== undefined)])
}
