import type { SchemaShape } from '../../model/storage.ts'
import { LOCK_MODES, type LockMode, type SchemaRefusal, type TableLock } from './finding.ts'

/** The objects in the database's schema: read once, then compared with the model. */
export interface Catalogue {
  readonly schema: string
  /** By name; tables of other makers too. */
  readonly tables: ReadonlyMap<string, ActualTable>
  /** Names that views, sequences and the like take up. */
  readonly otherNames: ReadonlySet<string>
  /** The objects that Plinth created, by table name. */
  readonly owned: ReadonlyMap<string, OwnedParts>
  /** A table with more rows is large: it is not locked without being asked. A million where absent. */
  readonly manyRows?: number
  readonly trigrams: TrigramExtension
  /** Rows of `plinth_tables` that were changed by hand and cannot be read. */
  readonly damaged: readonly SchemaRefusal[]
}

/** The extension pg_trgm, which indexes of kind `text` need. */
export interface TrigramExtension {
  /** Its schema; null: it is not installed in this database. */
  readonly schema: string | null
  /** The server has its files. */
  readonly isAvailable: boolean
  /** The user may install it. */
  readonly mayCreate: boolean
}

export interface ActualTable {
  readonly name: string
  readonly columns: readonly ActualColumn[]
  readonly primaryKey: readonly string[]
  /** Without the primary key's. */
  readonly indexes: readonly ActualIndex[]
  readonly checks: readonly ActualCheck[]
  readonly foreignKeys: readonly ActualForeignKey[]
  readonly triggers: readonly ActualTrigger[]
}

export interface ActualColumn {
  readonly name: string
  /** In the form of format_type: `character varying(255)`. Of a domain, the type that it is made of. */
  readonly type: string
  /** The domain of its values, or a collation that takes different texts for equal ones (`COLLATE "x"`); null: neither. */
  readonly custom: string | null
  readonly nullable: boolean
  readonly identity: boolean
  /** It is not null, and neither PostgreSQL nor a trigger of another maker fills it: a row that leaves it out is refused. */
  readonly needsValue: boolean
  /** The expression, as PostgreSQL prints it back. */
  readonly default: string | null
}

export interface ActualIndex {
  readonly name: string
  /** null: an expression. */
  readonly columns: readonly (string | null)[]
  readonly unique: boolean
  /** NULLS NOT DISTINCT: a second row without a value is refused. */
  readonly nullsEqual: boolean
  readonly valid: boolean
  readonly where: string | null
  /** The expressions among its keys; null: none. */
  readonly expressions: string | null
  /** Access method: `btree`, `gin`. */
  readonly method: string
}

export interface ActualCheck {
  readonly name: string
  readonly columns: readonly string[]
  readonly valid: boolean
  readonly definition: string
}

export interface ActualForeignKey {
  readonly name: string
  readonly columns: readonly string[]
  readonly valid: boolean
  readonly references: { readonly table: string; readonly columns: readonly string[] }
  /** pg_constraint.confdeltype */
  readonly onDelete: string
}

export interface ActualTrigger {
  readonly name: string
  /** It fires in ordinary sessions. */
  readonly enabled: boolean
  /** MD5 of its function's body, hexadecimal. */
  readonly bodyDigest: string
}

/** A row of `plinth_tables`: the parts of a table that are Plinth's to change. */
export interface OwnedParts {
  readonly serves: string
  readonly columns: ReadonlySet<string>
  readonly indexes: ReadonlySet<string>
  readonly constraints: ReadonlySet<string>
  /** Column → the type of the attribute that it holds; none where an older Plinth made it. */
  readonly kinds: ReadonlyMap<string, string>
  /** null: neither a content-type's nor a component's own table. */
  readonly shape: SchemaShape | null
}

/** An existing table and the lock that a plan takes on it. */
export interface LockedTable {
  readonly table: string
  readonly from: LockMode
}

/** Each table once, from all that anything keeps away from it; in one order for everybody. */
export function lockedTables(
  holds: readonly TableLock[],
  { tables, owned }: Pick<Catalogue, 'tables' | 'owned'>,
): readonly LockedTable[] {
  const held = new Map<string, LockMode>()
  for (const { table, from } of holds) {
    for (const one of table === null ? owned.keys() : [table])
      if (tables.has(one)) held.set(one, stronger(from, held.get(one)))
  }
  return [...held].map(([table, from]) => ({ table, from })).sort(byName)
}

const stronger = (one: LockMode, other: LockMode = 'vacuum'): LockMode =>
  LOCK_MODES.indexOf(one) > LOCK_MODES.indexOf(other) ? one : other

const byName = ({ table: one }: LockedTable, { table: other }: LockedTable): number => (one < other ? -1 : 1)
