import { memoize } from '../base/memo.ts'
import { digestOf } from '../model/identifiers.ts'
import type { Column, Table } from '../model/storage.ts'
import { qualified, quoteConstant } from './ddl.ts'
import { quoteIdentifier as ident } from './identifier.ts'

/** The names of all triggers that increment a table's version start with it. */
export const VERSION_TRIGGER = 'plinth_version'

/** Shards of a table's version. More concurrent writers than this create further shards. */
const SHARDS = 16

/** Largest step of a version. A bigint holds 10^13 steps of this size. */
const LONGEST_STEP = 1_000_000

/** Rows of one statement that are recorded. A statement that writes more may have changed any row. */
const MAX_RECORDED_ROWS = 8

/** Characters of former records that are kept when the next one is added: those of 40 to 50 updates. A row of 2 kB would be compressed. */
const KEPT_CHARACTERS = 1600

/** How updates of a table are recorded. */
export interface ChangeLayout {
  /** Part of every record: records of a trigger for other columns have another one. */
  readonly digest: string
  /** The bit of each column that an update may change; columns beyond the last bit share it. */
  readonly bits: ReadonlyMap<string, bigint>
}

/** null: only the number of writes is recorded. Rows of links and components are not looked up by their ids. */
export const changeLayout = memoize((table: Table): ChangeLayout | null => {
  if (!table.versioned || table.shape?.holder !== 'content-type') return null
  const bits = bitsOf(table)
  const columns = table.columns.map(({ name, type }) => [name, type])
  return { digest: digestOf({ table: table.name, columns, body: printRecord(table, '') }), bits }
})

const LAST_BIT = 59

const bitsOf = (table: Table): ReadonlyMap<string, bigint> =>
  new Map(recordedColumns(table).map(({ name }, at) => [name, 1n << BigInt(Math.min(at, LAST_BIT))]))

/** A row keeps its id: an update of ids is not recorded row by row. */
const recordedColumns = ({ columns }: Table): readonly Column[] => columns.filter(({ name }) => name !== 'id')

/**
 * SQL of the trigger function that advances a table's version. The version is the sum of the table's shards in
 * `plinth_versions` and only grows. The step is random, so two divergent states (replica and primary, before and after
 * a restore) do not share a version.
 *
 * A transaction owns its shard until it ends. It takes the shard by a non-blocking advisory lock, starting at the
 * backend's pid modulo 16 and going past 16 when more transactions write at once. Writers therefore never wait for
 * each other's version rows and cannot deadlock on them.
 */
export const printMoveVersion = (schema: string): string => printFunction(schema, 'plinth_move_version', null)

/**
 * The body of the table's own trigger function, as the catalogue has it. null: its triggers call the shared
 * one, which each migration creates again.
 */
export function printVersionBody(schema: string, table: Table): string | null {
  const layout = changeLayout(table)
  return layout && printBody(schema, printRecord(table, layout.digest))
}

/** The triggers of a table, with their function if it is the table's own. */
export function printVersionTriggers(schema: string, table: Table): readonly string[] {
  const layout = changeLayout(table)
  const name = layout ? `${VERSION_TRIGGER}_${layout.digest}` : 'plinth_move_version'
  return [
    ...(layout ? [printFunction(schema, name, printRecord(table, layout.digest))] : []),
    ...triggerOptions(table).map(
      ([trigger, when]) =>
        `CREATE TRIGGER ${ident(trigger)} AFTER ${when(qualified(schema, table.name))} ` +
        `FOR EACH STATEMENT EXECUTE FUNCTION ${qualified(schema, name)}()`,
    ),
  ]
}

export const versionTriggerNames = (table: Table): readonly string[] =>
  triggerOptions(table).map(([trigger]) => trigger)

/** A trigger with transition tables has one event. */
const EVENTS = {
  insert: 'REFERENCING NEW TABLE AS written ',
  update: 'REFERENCING OLD TABLE AS former NEW TABLE AS written ',
  delete: 'REFERENCING OLD TABLE AS former ',
  truncate: '',
} as const

type TriggerTerm = readonly [name: string, when: (table: string) => string]

function triggerOptions(table: Table): readonly TriggerTerm[] {
  if (!table.versioned) return []
  const layout = changeLayout(table)
  if (layout === null)
    return [[VERSION_TRIGGER, place => `INSERT OR UPDATE OR DELETE OR TRUNCATE ON ${place}`]]
  return Object.entries(EVENTS).map(([event, tables]) => [
    `${VERSION_TRIGGER}_${layout.digest}_${event}`,
    place => `${event.toUpperCase()} ON ${place} ${tables}`,
  ])
}

/** The function of a trigger in the catalogue if it is the table's own; null: it is shared. */
export const versionFunctionOf = (trigger: string): string | null =>
  /^(plinth_version_[0-9a-f]+)_[a-z]+$/.exec(trigger)?.[1] ?? null

interface RecordOptions {
  readonly variables: string
  /** Sets `record`. */
  readonly statements: string
}

const printFunction = (schema: string, name: string, record: RecordOptions | null): string =>
  `CREATE OR REPLACE FUNCTION ${qualified(schema, name)}() RETURNS trigger LANGUAGE plpgsql AS ${quoteConstant(printBody(schema, record))}`

function printBody(schema: string, record: RecordOptions | null): string {
  const versions = qualified(schema, 'plinth_versions')
  const added = record && `, changes = right(coalesce(changes, ''), ${KEPT_CHARACTERS}) || record`
  return `
DECLARE
  moved constant text := TG_TABLE_NAME;
  lane constant integer := hashtext(${quoteConstant(`plinth versions of ${schema}`)});
  own constant integer := pg_backend_pid() % ${SHARDS};
  step constant bigint := 1 + floor(random() * ${LONGEST_STEP});
  tries integer := 0;
  shard_taken integer := own;
${record?.variables ?? ''}BEGIN
${record?.statements ?? ''}  WHILE NOT pg_try_advisory_xact_lock(lane, shard_taken) LOOP
    tries := tries + 1;
    shard_taken := CASE WHEN tries < ${SHARDS} THEN (own + tries) % ${SHARDS} ELSE tries END;
  END LOOP;
  UPDATE ${versions} SET version = version + step${added ?? ''} WHERE table_name = moved AND shard = shard_taken;
  IF NOT FOUND THEN
    INSERT INTO ${versions} AS held (table_name, shard, version${record ? ', changes' : ''}) VALUES (moved, shard_taken, step${record ? ', record' : ''})
    ON CONFLICT (table_name, shard) DO UPDATE SET version = held.version + step;
  END IF;
  RETURN NULL;
END
`
}

/**
 * `record` is `;step:digest:changes`. An update is `u`, the row's id and the bits of its changed columns; an insert `i`,
 * the id and a digest of the documentId; a deletion `d` and the id; `*`: any rows. A statement that changed no row is
 * not recorded and increments no version.
 *
 * One row is compared by expressions of PL/pgSQL, which costs half of a join. A comparison that fails because a column was
 * dropped or renamed by hand must not fail the write: the record is `*`.
 */
function printRecord(table: Table, digest: string): RecordOptions {
  const few = (rows: string) =>
    `SELECT count(*) INTO few FROM (SELECT FROM ${rows} LIMIT ${MAX_RECORDED_ROWS + 1}) AS counted;
    IF few = 0 THEN RETURN NULL; END IF;`
  const mask = (before: string, after: string) => printMask(table, before, after)
  return {
    variables: `  few integer := 0;
  items text;
  record text;
  old_row record;
  new_row record;
`,
    statements: `  IF TG_OP = 'UPDATE' THEN
    ${few('written')}
    BEGIN
      IF few = 1 THEN
        SELECT * INTO old_row FROM former;
        SELECT * INTO new_row FROM written;
        IF old_row.id = new_row.id THEN
          items := 'u' || new_row.id || '.' || (${mask('old_row', 'new_row')});
        END IF;
      ELSIF few <= ${MAX_RECORDED_ROWS} THEN
        SELECT string_agg('u' || n.id || '.' || (${mask('o', 'n')}), ',') INTO items
        FROM written AS n JOIN former AS o ON o.id = n.id
        HAVING count(*) = few AND count(DISTINCT n.id) = few;
      END IF;
    EXCEPTION WHEN OTHERS THEN
      items := NULL;
    END;
  ELSIF TG_OP = 'INSERT' THEN
    ${few('written')}
    IF few <= ${MAX_RECORDED_ROWS} THEN
      SELECT string_agg('i' || id || '.' || left(md5(convert_to(document_id, 'UTF8')), ${PIN_DIGITS}), ',') INTO items FROM written;
    END IF;
  ELSIF TG_OP = 'DELETE' THEN
    ${few('former')}
    IF few <= ${MAX_RECORDED_ROWS} THEN
      SELECT string_agg('d' || id, ',') INTO items FROM former;
    END IF;
  END IF;
  record := ';' || step || ':${digest}:' || coalesce(items, '*');
`,
  }
}

/** Hexadecimal digits of the MD5 digest of a documentId. Documents with equal digits are treated as the same. */
export const PIN_DIGITS = 8

function printMask(table: Table, before: string, after: string): string {
  const bits = bitsOf(table)
  const masks = recordedColumns(table).map(({ name, type }) => {
    const [former, written] = [`${before}.${ident(name)}`, `${after}.${ident(name)}`]
    return `CASE WHEN ${DIFFER[type]?.(former, written) ?? `${former} IS DISTINCT FROM ${written}`} THEN ${bits.get(name)} ELSE 0 END`
  })
  return printUnion(masks)
}

/** Nested in halves: PostgreSQL's stack, small in the embedded database, takes no chain of an operator for each column. */
function printUnion(masks: readonly string[]): string {
  if (masks.length <= 2) return masks.join(' | ')
  const half = masks.length >> 1
  return `(${printUnion(masks.slice(0, half))}) | (${printUnion(masks.slice(half))})`
}

/** PostgreSQL's equality ignores the sign of zero, the scale of numbers in jsonb, and what a collation ignores. */
const sameBytes = (former: string, written: string): string =>
  `record_image_ne(ROW(${former}), ROW(${written}))`
const sameText = (former: string, written: string): string =>
  `${former} COLLATE "C" IS DISTINCT FROM ${written} COLLATE "C"`

const DIFFER: Readonly<Partial<Record<Column['type'], (former: string, written: string) => string>>> = {
  jsonb: sameBytes,
  'double precision': sameBytes,
  tsvector: sameBytes,
  text: sameText,
  'varchar(255)': sameText,
}
