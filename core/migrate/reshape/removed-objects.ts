import type { ComponentsShape, SchemaShape } from '../../model/storage.ts'
import { quoteConstant } from '../../sql/ddl.ts'
import { type SchemaFinding, type Step, step } from '../schema/finding.ts'
import { countRows } from '../schema/row-counts.ts'
import { type Naming, namesBefore } from './component-links.ts'
import { precondition } from './data-losses.ts'
import { type ComponentsMove, isComponent, type Reshape, type TableState } from './reshape.ts'

/** Components that an attribute held and holds no more: it is gone, with its holder perhaps, or takes others now. */
interface Gone {
  readonly component: TableState
  /** The name of the owner in the component's rows. */
  readonly owner: string
}

interface GoneTerms {
  readonly schema: string
  readonly naming: Naming
  /** The former shape of all tables, including removed ones. */
  readonly before: readonly SchemaShape[]
}

/** Rows lost with removed components (extra-constraints.ts), and by lists that become single components. */
export function* goneParts(shift: Reshape, terms: GoneTerms): Generator<SchemaFinding> {
  const { schema, naming, before } = terms
  for (const { component, owner } of findGone(shift, before)) {
    const sweep = printSweep(component, shift, naming)
    if (sweep.length === 0) continue
    const held = countRows(namesBefore(schema).table(component), `owner = ${quoteConstant(owner)}`)
    const words = `remove what was nested in the ${wordsOf(component)} of \`${owner}\``
    yield { ...step('drop', words, ...sweep), onlyIf: held }
  }
  for (const move of shift.parts)
    if (move.before?.many && !move.after.many) yield* surplusParts(move, move.before, shift, terms)
}

const wordsOf = ({ pair }: TableState): string => pair.desired.serves

function findGone({ holdings, parts }: Reshape, before: readonly SchemaShape[]): readonly Gone[] {
  const kept = new Set(
    parts.flatMap(({ before: former, after }) =>
      former === null ? [] : after.components.map(component => `${former.owner} ${component}`),
    ),
  )
  const held = before.flatMap(({ attributes }) =>
    attributes.filter((one): one is ComponentsShape => one.kind === 'parts'),
  )
  const components = holdings.filter(isComponent)
  return held.flatMap(({ owner, components: uids }) =>
    components
      .filter(one => uids.includes(one.before.uid) && !kept.has(`${owner} ${one.after.uid}`))
      .map(component => ({ component, owner })),
  )
}

/** All but the first of a list that is none any more. */
function* surplusParts(
  { after }: ComponentsMove,
  before: ComponentsShape,
  shift: Reshape,
  { schema, naming }: GoneTerms,
): Generator<SchemaFinding> {
  for (const component of shift.holdings.filter(
    one => isComponent(one) && after.components.includes(one.after.uid),
  )) {
    const rows = (table: string, owner: string) =>
      `(SELECT id, status, row_number() OVER (PARTITION BY owner_key, status, locale ORDER BY position, id) AS place
       FROM ${table} WHERE owner = ${quoteConstant(owner)}) AS list`
    const question = countRows(rows(namesBefore(schema).table(component), before.owner), 'place > 1')
    const table = naming.table(component)
    const remove = `DELETE FROM ${table} AS c USING ${rows(table, after.owner)} WHERE c.id = list.id AND c.status = list.status AND list.place > 1`
    const words = `keep the first ${wordsOf(component)} of each list in \`${after.owner}\``
    const done: Step = {
      ...step('shift', words, remove, ...printSweep(component, shift, naming)),
      onlyIf: question,
    }
    yield done
    const because = `\`${after.owner}\` takes one component alone now, which`
    yield precondition(
      {
        code: 'lost-values',
        table: component.pair.desired.name,
        question,
        because,
        lost: 'components after the first in {rows}',
      },
      [done],
    )
  }
}

/** Takes along what was nested in components that are gone, from the outside in. */
function printSweep(component: TableState, shift: Reshape, naming: Naming): readonly string[] {
  const nested = shift.parts.filter(({ owner }) => owner === component)
  return nested.flatMap(({ after }) =>
    after.components.flatMap(uid => {
      const inner = shift.holdings.find(one => one.after.uid === uid)
      if (inner === undefined) return []
      const there = `EXISTS (SELECT FROM ${naming.table(component)} AS p WHERE p.id = c.owner_key AND p.status = c.status)`
      const sweep = `DELETE FROM ${naming.table(inner)} AS c WHERE owner = ${quoteConstant(after.owner)} AND NOT ${there}`
      return [sweep, ...printSweep(inner, shift, naming)]
    }),
  )
}
