import { mediaSources } from '../model/media-sources.ts'
import type { Actor, Command, PermittedCommand, VisibleDrafts, WriteConditions } from '../query/command.ts'
import type { Populate, Query, RestrictedQuery, Selection, ShapePart } from '../query/query.ts'
import { isPasswordAttribute } from './readable-attributes.ts'
import { mapOrDrop } from './restrict/read-scope.ts'

/** The only place that brands a query as restricted. The brand exists in the type only. */
export const brand = (query: Query): RestrictedQuery => query as RestrictedQuery

/** The only place that brands a command as permitted. */
export const brandCommand = <Kind extends Command>(
  command: Kind,
  conditions: WriteConditions,
  by: Actor | null = null,
): PermittedCommand<Kind> => ({ ...command, conditions, by }) as PermittedCommand<Kind>

/**
 * Brands a query of trusted code (the server, plugins, content) without restriction. It may return private attributes,
 * but never passwords.
 */
export function trusted(query: Query): RestrictedQuery {
  const selection = withoutPasswords(query.selection)
  return brand(selection === query.selection ? query : { ...query, selection })
}

export const ALL_DRAFTS: VisibleDrafts = Object.freeze({ where: null })

/** The conditions of trusted code: none. */
export const UNCONDITIONAL: WriteConditions = Object.freeze({
  before: null,
  after: null,
  targets: new Map(),
  drafts: ALL_DRAFTS,
  shown: null,
  visible: null,
})

/** Brands a command of trusted code without conditions. */
export const trustedCommand = <Kind extends Command>(command: Kind): PermittedCommand<Kind> =>
  brandCommand(command, UNCONDITIONAL)

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
      const parts = mapOrDrop(populate.parts, partWithoutPasswords)
      return parts === populate.parts ? populate : { ...populate, parts }
    }
    case 'morph': {
      const parts = populate.parts.flatMap(part => {
        const own = partWithoutPasswords(part)
        return mediaSources(populate.attribute, part.holder).map(source => ({ ...own, source, scope: null }))
      })
      return { ...populate, parts }
    }
    default:
      return null
  }
}

function partWithoutPasswords<Kind extends ShapePart>(part: Kind): Kind {
  const selection = withoutPasswords(part.selection)
  return selection === part.selection ? part : { ...part, selection }
}
