import type { Actor, Command, PermittedCommand, WriteConditions } from '../query/command.ts'
import type { Query, RestrictedQuery } from '../query/query.ts'

/** The only place where a query becomes a restricted one. The brand is a type's alone, so there is nothing to construct. */
export const brand = (query: Query): RestrictedQuery => query as RestrictedQuery

/** As brand: the only place where a command becomes a permitted one. */
export const brandCommand = <Kind extends Command>(
  command: Kind,
  conditions: WriteConditions,
  by: Actor | null = null,
): PermittedCommand<Kind> => ({ ...command, conditions, by }) as PermittedCommand<Kind>
