import { createHash } from 'node:crypto'
import { toSnakeCase } from './names.ts'
import type { ColumnLink } from './storage.ts'

/** In bytes. PostgreSQL truncates longer names silently. Names are ASCII, so bytes are characters. */
const MAX_IDENTIFIER = 63

/** A name within PostgreSQL's limit: a longer one is cut and ends in a hash of the whole name. */
export const identifier = (name: string): string =>
  name.length <= MAX_IDENTIFIER ? name : hashed(name, name)

/**
 * The name of an index or constraint, unique in the schema. Its parts are joined by two underscores. If a part contains
 * underscores that make this ambiguous, a hash of the parts is added.
 */
export function constraintName(...parts: readonly string[]): string {
  const name = parts.join('__')
  const ambiguous = parts.some(part => part.includes('__') || part.startsWith('_') || part.endsWith('_'))
  return ambiguous || name.length > MAX_IDENTIFIER ? hashed(name, parts.join('\0')) : name
}

export const linkTableName = (ownerTable: string, attribute: string): string =>
  identifier(`${ownerTable}_${toSnakeCase(attribute)}_links`)

/** A short digest of plain data, for names of objects that are replaced when their definition changes. Sets are lists. */
export const digestOf = (definition: object): string =>
  createHash('sha256')
    .update(
      JSON.stringify(definition, (_, value: unknown) =>
        value instanceof Map || value instanceof Set ? [...value] : value,
      ),
    )
    .digest('hex')
    .slice(0, 8)

function hashed(name: string, whole: string): string {
  const hash = createHash('sha256').update(whole).digest('hex').slice(0, 10)
  return `${name.slice(0, MAX_IDENTIFIER - hash.length - 1)}_${hash}`
}

type HolderKind = 'content-type' | 'component'

/** System columns that PostgreSQL adds to every table. */
const SYSTEM_COLUMNS = ['tableoid', 'xmin', 'cmin', 'xmax', 'cmax', 'ctid']

/** Columns of versions and owners. The list is the same for all types, so enabling drafts or locales needs no rename. */
const OWN_COLUMNS: { readonly [Kind in HolderKind]: ReadonlySet<string> } = {
  'content-type': new Set(['document_key', 'status', 'locale', 'shared_updated_at', ...SYSTEM_COLUMNS]),
  component: new Set(['status', 'owner', 'owner_key', 'locale', 'position', ...SYSTEM_COLUMNS]),
}

/** The column of a declared attribute. It gets a suffix (`status_`) if the table has its own column of that name. */
export const attributeColumn = (kind: HolderKind, attribute: string): string =>
  avoidReserved(kind, toSnakeCase(attribute))

const avoidReserved = (kind: HolderKind, column: string): string =>
  OWN_COLUMNS[kind].has(column) ? `${column}_` : identifier(column)

/** The coordinates of the target that a link must store because the owner's row lacks them (reference/documents.md#6-what-a-link-stores), and whether the inverse list is ordered. */
export interface LinkCoordinates {
  readonly status: boolean
  readonly locale: boolean
  readonly inverseOrder: boolean
}

interface VersionedType {
  readonly draftAndPublish: boolean
  readonly localized: boolean
}

/** Components count as owners without drafts and locales, because any of their owners may lack them. */
export const linkCoordinates = (
  owner: VersionedType,
  target: VersionedType,
  inverseOrder: boolean,
): LinkCoordinates => ({
  status: target.draftAndPublish && !owner.draftAndPublish,
  locale: target.localized && !owner.localized,
  inverseOrder,
})

/** The columns of a to-one link on its owner's row. */
export function linkColumns(kind: HolderKind, attribute: string, coordinates: LinkCoordinates): ColumnLink {
  const { status, locale, inverseOrder } = coordinates
  const column = (suffix: string) => avoidReserved(kind, `${toSnakeCase(attribute)}_${suffix}`)
  return {
    kind: 'column',
    key: column('key'),
    draftKey: status ? column('draft_key') : null,
    locale: locale ? column('locale') : null,
    draftLocale: status && locale ? column('draft_locale') : null,
    inversePosition: inverseOrder ? column('inverse_position') : null,
  }
}

/** The columns of a link in table order. */
export const columnsOfLink = (link: ColumnLink): readonly string[] =>
  [link.key, link.draftKey, link.locale, link.draftLocale, link.inversePosition].filter(name => name !== null)
