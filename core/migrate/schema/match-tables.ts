import type { AttributeShape, SchemaShape, Table, TableLink } from '../../model/storage.ts'
import { qualified } from '../../sql/ddl.ts'
import type { ActualTable, Catalogue, OwnedParts } from './catalogue.ts'
import { refusal, type SchemaFinding } from './finding.ts'
import { columnOfLocales, type TablePair } from './pair-tables.ts'
import { countRows } from './row-counts.ts'

/**
 * Which table of the database each table of the model is: by its name; else by what `plinth_tables` records of which
 * type or component made it, whatever of its names changed; else by the name that it had before.
 */
export function matchTables(
  desired: readonly Table[],
  catalogue: Catalogue,
): ReadonlyMap<Table, ActualTable | undefined> {
  const names = new Set(desired.map(({ name }) => name))
  const { tables, owned, otherNames } = catalogue
  const free = (name: string | undefined): ActualTable | undefined =>
    name === undefined || names.has(name) || !owned.has(name) ? undefined : tables.get(name)
  const owners = recordedOwners(owned)
  const former = (table: Table): ActualTable | undefined => {
    if (otherNames.has(table.name)) return undefined
    const recorded = uidsOf(table.shape).map(uid => owners.get(uid))
    return recorded.map(free).find(found => found !== undefined) ?? free(table.renamedFrom)
  }
  const own = new Map(desired.map(table => [table, tables.get(table.name) ?? former(table)]))
  const links = formerLinkTables(desired, own, owned)
  return new Map([...own].map(([table, actual]) => [table, actual ?? free(links.get(table.name))]))
}

/** The uid, and the one that it had before. */
const uidsOf = (shape: SchemaShape | undefined): readonly string[] =>
  shape === undefined ? [] : [shape.uid, ...(shape.renamedFrom === undefined ? [] : [shape.renamedFrom])]

/** The key that the project file has: `article` for `api::article.article`; of a component, the uid itself. */
const keyOfUid = (uid: string): string => (uid.includes('::') ? uid.slice(uid.indexOf('.') + 1) : uid)

/** Uid → table. */
const recordedOwners = (owned: ReadonlyMap<string, OwnedParts>): ReadonlyMap<string, string> =>
  new Map([...owned].flatMap(([name, { shape }]) => (shape === null ? [] : [[shape.uid, name] as const])))

/** Tables of links, by name, and the ones that the same attributes of the same owners had. */
function formerLinkTables(
  desired: readonly Table[],
  actual: ReadonlyMap<Table, ActualTable | undefined>,
  owned: ReadonlyMap<string, OwnedParts>,
): ReadonlyMap<string, string> {
  const former = new Map<string, string>()
  for (const table of desired) {
    const before = owned.get(actual.get(table)?.name ?? '')?.shape
    for (const attribute of before ? (table.shape?.attributes ?? []) : []) {
      const [now, then] = [linkTableOf(attribute), linkTableOf(formerOf(attribute, before?.attributes ?? []))]
      if (now !== undefined && then !== undefined) former.set(now.table, then.table)
    }
  }
  return former
}

const formerOf = (
  { name, renamedFrom }: AttributeShape,
  before: readonly AttributeShape[],
): AttributeShape | undefined =>
  before.find(one => one.name === name) ?? before.find(one => one.name === renamedFrom)

const linkTableOf = (attribute: AttributeShape | undefined): TableLink | undefined =>
  attribute?.kind === 'link' && attribute.link.kind === 'table' ? attribute.link : undefined

/**
 * Refuses tables under whose name the rows of another content-type are: of one that is to exchange names with this one, because a
 * rename would find the new name in use, or of one that is gone, whose documents would become this one's unasked.
 */
export function* refuseTakenTables(
  desired: readonly Table[],
  { schema, owned, tables }: Catalogue,
): Generator<SchemaFinding> {
  const nameOf = new Map(desired.flatMap(({ name, shape }) => (shape ? [[shape.uid, name] as const] : [])))
  for (const { name: table, serves, shape } of desired) {
    const before = (tables.has(table) && owned.get(table)?.shape) || null
    if (before === null || uidsOf(shape).includes(before.uid)) continue
    const now = nameOf.get(before.uid)
    const holds = `table "${table}" (${serves}) holds`
    if (now !== undefined) {
      const what = `${holds} the rows of \`${before.uid}\`, whose table is to be "${now}"`
      const advice = `give \`${before.uid}\` that name in a first step: two tables cannot change names in one`
      yield refusal('foreign-table', table, `${what}: ${advice}`)
    } else if (before.holder !== 'component') {
      const key = keyOfUid(before.uid)
      const place = qualified(schema, table)
      yield {
        kind: 'precondition',
        code: 'vanished-rows',
        table,
        countQuery: countRows(place),
        message: `${holds} {rows} of content-type \`${key}\`, which is no longer in the project: put it back, name it as \`renamedFrom: ${key}\` of its successor, give this one another \`tableName\`, or delete the rows: DELETE FROM ${place}`,
      }
    }
  }
}

/**
 * Refuses renames to names that the database has as well: what is found under the new name would stay, and what is to
 * get it would be dropped as removed.
 */
export function* refuseTakenNames(
  pairs: readonly TablePair[],
  { owned, tables }: Catalogue,
): Generator<SchemaFinding> {
  const uids = new Set(recordedOwners(new Map([...owned].filter(([name]) => tables.has(name)))).keys())
  const refuse = (table: string, what: string, former: string) =>
    refusal(
      'vanished-rows',
      table,
      `${what} is renamed from \`${former}\`, but the database has both: remove the former one in a first step (\`plinth migrate --allow-destructive\`) and rename in a second one, or leave \`renamedFrom\` out`,
    )
  for (const { desired, owned: before } of pairs) {
    const { name: table, serves, shape } = desired
    const [uid, former] = uidsOf(shape)
    if (uid !== undefined && former !== undefined && uids.has(uid) && uids.has(former))
      yield refuse(table, serves, keyOfUid(former))
    const names = new Set(before.shape?.attributes.map(({ name }) => name))
    for (const { name, renamedFrom } of shape?.attributes ?? [])
      if (renamedFrom !== undefined && names.has(name) && names.has(renamedFrom))
        yield refuse(table, `\`${name}\` of ${serves}`, renamedFrom)
  }
  yield* refuseTakenLocales(pairs, refuse)
}

/** Every column of locale codes has the same renames, and records which codes there were. */
function* refuseTakenLocales(
  pairs: readonly TablePair[],
  refuse: (table: string, what: string, former: string) => SchemaFinding,
): Generator<SchemaFinding> {
  for (const { desired, columns, owned } of pairs) {
    const recorded = owned.kinds.get(columns.get('locale')?.name ?? '')
    const taken = [...(columnOfLocales(desired)?.renamedValues ?? [])].filter(pair =>
      pair.every(code => recorded?.includes(JSON.stringify(code))),
    )
    for (const [former, code] of taken) yield refuse(desired.name, `locale \`${code}\``, former)
    if (taken.length > 0) return
  }
}

/** Things that have a name inside a table: indexes, checks, foreign keys. */
interface Named {
  readonly name: string
}

interface Matched<Wanted extends Named, Actual extends Named> {
  /** The same thing under the name that it had. */
  readonly renamed: readonly { readonly desired: Wanted; readonly actual: Actual }[]
  readonly missing: readonly Wanted[]
  /** Plinth's, and no longer wanted. */
  readonly surplus: readonly Actual[]
  /** Another maker's, under a name that is needed. */
  readonly foreign: readonly Wanted[]
}

/** Which of the wanted things are there, whatever their names; `same` compares all but the name. */
export function matchByName<Wanted extends Named, Actual extends Named>(
  desired: readonly Wanted[],
  actual: readonly Actual[],
  owned: ReadonlySet<string>,
  same: (desired: Wanted, actual: Actual) => boolean,
): Matched<Wanted, Actual> {
  const byName = new Map(actual.map(one => [one.name, one]))
  const names = new Set(desired.map(one => one.name))
  const absent = desired.filter(one => {
    const found = byName.get(one.name)
    return found === undefined || !same(one, found)
  })
  const free = new Set(actual.filter(one => owned.has(one.name) && !names.has(one.name)))
  const renamed = absent.flatMap(one => {
    const found = byName.has(one.name) ? undefined : [...free].find(other => same(one, other))
    if (found === undefined) return []
    free.delete(found)
    return [{ desired: one, actual: found }]
  })
  const missing = absent.filter(one => !renamed.some(pair => pair.desired === one))
  const outdated = missing.flatMap(one => byName.get(one.name) ?? [])
  return {
    renamed,
    missing: missing.filter(one => !byName.has(one.name) || owned.has(one.name)),
    surplus: [...free, ...outdated.filter(one => owned.has(one.name))],
    foreign: missing.filter(one => byName.has(one.name) && !owned.has(one.name)),
  }
}
