import type { Actor, Command, PermittedCommand, WriteConditions } from '../query/command.ts'
import type { Populate, Query, RestrictedQuery, Selection } from '../query/query.ts'
import { mapOrDrop } from './restrict/read-scope.ts'
import { isPasswordAttribute } from './restrict/visible.ts'

/** The only place where a query becomes a restricted one. The brand is a type's alone, so there is nothing to construct. */
export const brand = (query: Query): RestrictedQuery => query as RestrictedQuery

/** As brand: the only place where a command becomes a permitted one. */
export const brandCommand = <Kind extends Command>(
  command: Kind,
  conditions: WriteConditions,
  by: Actor | null = null,
): PermittedCommand<Kind> => ({ ...command, conditions, by }) as PermittedCommand<Kind>

/**
 * A query of code that may see everything (the server itself, plugins, content), as it is: private attributes
 * included, but passwords never leave.
 */
export function trusted(query: Query): RestrictedQuery {
  const selection = withoutPasswords(query.selection)
  return brand(selection === query.selection ? query : { ...query, selection })
}

/** A command of code that may change everything, as it is. */
export const trustedCommand = <Kind extends Command>(command: Kind): PermittedCommand<Kind> =>
  brandCommand(command, { before: null, after: null, targets: new Map(), sights: null })

function withoutPasswords(selection: Selection): Selection {
  const fields = mapOrDrop(selection.fields, field => (isPasswordAttribute(field) ? null : field))
  const populate = mapOrDrop(selection.populate, populateWithoutPasswords)
  if (fields === selection.fields && populate === selection.populate) return selection
  return { ...selection, fields, populate }
}

function populateWithoutPasswords(populate: Populate): Populate | null {
  switch (populate.kind) {
    case 'link':
    case 'component': {
      const selection = withoutPasswords(populate.selection)
      return selection === populate.selection ? populate : { ...populate, selection }
    }
    case 'zone': {
      const components = mapOrDrop(populate.components, part => {
        const selection = withoutPasswords(part.selection)
        return selection === part.selection ? part : { ...part, selection }
      })
      return components === populate.components ? populate : { ...populate, components }
    }
    default:
      return null
  }
}
