import type { Column } from '../../model/storage.ts'
import { quoteIdentifier as name } from '../../sql/identifier.ts'
import type { ActualColumn } from './catalogue.ts'
import { called } from './columns.ts'
import type { Precondition } from './finding.ts'
import { projection, type TablePair } from './pair-tables.ts'
import { countLostValues } from './row-counts.ts'

/** Attributes of different types may lie in the same kind of column: what one allows, another does not. */
export function* compareKinds(pair: TablePair): Generator<Precondition> {
  for (const column of pair.desired.columns) {
    const actual = pair.columns.get(column.name)
    const rule = actual && ruleFor(pair, column, actual)
    if (rule) yield breaks(pair, column, rule)
  }
}

interface Rule {
  /** SQL that holds for values that may stay. */
  readonly holds: (value: string) => string
  /** The fault of all other values. */
  readonly fault: string
  /** True if messages must not contain the values. */
  readonly secret?: true
}

function ruleFor(
  { made }: TablePair,
  { attribute }: Column,
  { name: actual }: ActualColumn,
): Rule | undefined {
  const former = made.kinds.get(actual)
  if (attribute?.kind !== 'scalar' || former === undefined || former === attribute.type) return undefined
  return former === 'password' ? HASHES : RULES[attribute.type]
}

function breaks(pair: TablePair, column: Column, { holds, fault, secret }: Rule): Precondition {
  const value = name(column.name)
  const which = secret ? fault : `${fault}: {values}`
  return {
    kind: 'proviso',
    code: 'type-change',
    table: pair.desired.name,
    question: countLostValues(projection(pair), value, holds(value)),
    message: `${called(pair, column)} cannot change its type: values in {rows} ${which}: change those first, or take a new name for the attribute`,
  }
}

const HASHES: Rule = {
  holds: () => 'false',
  fault: 'are hashes of passwords, which are never readable',
  secret: true,
}

/** The same rule as in core/documents/values/parse-scalar.ts. */
const EMAIL =
  '^[^][[:space:]@<>(),;:\\\\"]+@[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?([.][A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?)+$'

const RULES: Readonly<Partial<Record<string, Rule>>> = {
  password: { holds: () => 'false', fault: 'were never hashed, and are no passwords', secret: true },
  email: {
    holds: value => `${value} ~ '${EMAIL}' AND strpos(${value}, '..') = 0 AND length(${value}) <= 254`,
    fault: 'are no email addresses',
  },
  uid: { holds: value => `${value} ~ '^[A-Za-z0-9_.~-]*$'`, fault: 'are no uids' },
  array: { holds: value => `jsonb_typeof(${value}) = 'array'`, fault: 'are no lists' },
  blocks: {
    holds: value => `CASE jsonb_typeof(${value}) WHEN 'array' THEN NOT EXISTS (
      SELECT FROM jsonb_array_elements(${value}) AS block
      WHERE jsonb_typeof(block -> 'type') IS DISTINCT FROM 'string' OR jsonb_typeof(block -> 'children') IS DISTINCT FROM 'array'
    ) END`,
    fault: 'are no blocks',
  },
}
