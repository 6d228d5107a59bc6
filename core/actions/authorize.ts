import type { Action } from '../access/actions.ts'
import { trusted, trustedCommand } from '../access/brand.ts'
import { restrictModified } from '../access/restrict/modified-by-middleware.ts'
import { permit } from '../access/restrict/permit.ts'
import { restrict } from '../access/restrict/restrict.ts'
import type { ScalarAttribute } from '../model/model.ts'
import type { Command, PermittedCommand } from '../query/command.ts'
import type { Filter, Populate, Query, RestrictedQuery, Sort, ZonePart } from '../query/query.ts'
import type { ActionCall } from './action-call.ts'
import { invalidParam } from './params.ts'

/** Restricts a query to its caller. Trusted code may read everything, but not filter or sort by passwords. */
export function authorizeQuery(
  query: Query,
  { caller, original }: Pick<ActionCall, 'caller' | 'original'>,
  action?: Action,
): RestrictedQuery {
  const password = caller ? undefined : findPassword(query)
  if (password) throw invalidParam(`Invalid key ${password.name}: a password is no condition`, password.name)
  if (!caller) return trusted(query)
  return original ? restrictModified(query, caller, action) : restrict(query, caller, action)
}

/** Checks a command against the permissions of its caller. */
export const authorizeCommand = <Kind extends Command>(
  command: Kind,
  { caller }: Pick<ActionCall, 'caller'>,
): PermittedCommand<Kind> => (caller ? permit(command, caller) : trustedCommand(command))

/** Finds a password that a query filters or sorts by: conditions would disclose its value. */
function findPassword({ filter, sort, selection }: Query): ScalarAttribute | undefined {
  return inConditions(filter, sort) ?? inPopulates(selection.populate)
}

const isPassword = ({ type }: ScalarAttribute): boolean => type === 'password'

const inConditions = (filter: Filter | null, sort: readonly Sort[]): ScalarAttribute | undefined =>
  (filter ? compared(filter) : []).find(isPassword) ?? sort.map(({ attribute }) => attribute).find(isPassword)

function compared(filter: Filter): readonly ScalarAttribute[] {
  switch (filter.kind) {
    case 'and':
    case 'or':
      return filter.filters.flatMap(compared)
    case 'not':
    case 'related':
      return compared(filter.filter)
    case 'comparison':
      return [filter.attribute]
  }
}

function inPopulates(populates: readonly Populate[]): ScalarAttribute | undefined {
  for (const populate of populates) {
    const found = inPopulate(populate)
    if (found) return found
  }
  return undefined
}

const inPart = ({ filter, selection }: ZonePart): ScalarAttribute | undefined =>
  inConditions(filter ?? null, []) ?? inPopulates(selection.populate)

function inPopulate(populate: Populate): ScalarAttribute | undefined {
  if (populate.kind === 'zone') return populate.components.map(inPart).find(found => found !== undefined)
  return inConditions(populate.filter, populate.sort) ?? inPopulates(populate.selection.populate)
}
