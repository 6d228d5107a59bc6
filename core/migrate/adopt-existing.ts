import type { Table } from '../model/storage.ts'
import type { ActualTable, Catalogue, Made } from './schema/catalogue.ts'

/**
 * What files of migrations/ made under a name that the model wants is Plinth's from then on: so they can fill a column
 * before it comes to be required.
 */
export function adopt(desired: readonly Table[], before: Catalogue, after: Catalogue): Catalogue {
  const adopted = desired.flatMap((table): [string, Made][] => {
    const actual = after.tables.get(table.name)
    const former = before.tables.get(table.name)
    const made = former === undefined ? NEW : after.made.get(table.name)
    return actual === undefined || made === undefined
      ? []
      : [[table.name, withNewParts(table, { actual, former, made })]]
  })
  return { ...after, made: new Map([...after.made, ...adopted]) }
}

const NEW: Omit<Made, 'serves'> = {
  columns: new Set(),
  indexes: new Set(),
  constraints: new Set(),
  kinds: new Map(),
  shape: null,
}

interface Parts {
  readonly actual: ActualTable
  readonly former: ActualTable | undefined
  readonly made: Omit<Made, 'serves'>
}

function withNewParts(table: Table, { actual, former, made }: Parts): Made {
  const { columns, indexes, checks, foreignKeys } = table
  const added = (wanted: readonly Named[], now: readonly Named[], then: readonly Named[] = []) =>
    namesOf(wanted).filter(name => namesOf(now).includes(name) && !namesOf(then).includes(name))
  const constraints = [...actual.checks, ...actual.foreignKeys]
  const formerConstraints = former && [...former.checks, ...former.foreignKeys]
  return {
    ...made,
    serves: table.serves,
    columns: new Set([...made.columns, ...added(columns, actual.columns, former?.columns)]),
    indexes: new Set([...made.indexes, ...added(indexes, actual.indexes, former?.indexes)]),
    constraints: new Set([
      ...made.constraints,
      ...added([...checks, ...foreignKeys], constraints, formerConstraints),
    ]),
  }
}

interface Named {
  readonly name: string
}

const namesOf = (things: readonly Named[]): readonly string[] => things.map(({ name }) => name)
