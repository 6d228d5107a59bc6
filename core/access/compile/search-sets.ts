import type { Attribute, ContentType, Model } from '../../model/model.ts'
import { type SearchField, type SearchSets, searchFields } from '../../model/search.ts'
import type { Settings } from '../../project/settings/settings.ts'
import { decide } from '../decide.ts'
import { resolveHolders } from '../holders.ts'
import type { PermissionTable } from '../permission-entries.ts'
import { readableAttributes } from '../readable-attributes.ts'
import { coveredNames } from './to-rules.ts'

/** The sets of searched paths that each role and API token may read: each gets a vector of its own (docs/search.md). */
export function searchSets(settings: Settings, model: Model): SearchSets {
  const { roles, tokens } = resolveHolders(settings)
  const holders = [...roles.values(), ...tokens.values()]
  const searched = [...model.contentTypes.values()].filter(({ search }) => search !== null)
  return new Map(searched.map(type => [type, [everyReadable(type), ...setsOf(type, holders)]]))
}

/** For callers with full access. */
const everyReadable = (type: ContentType): ReadonlySet<string> =>
  new Set(readablePaths(type, readableAttributes(type)))

const setsOf = (type: ContentType, holders: readonly PermissionTable[]): readonly ReadonlySet<string>[] =>
  holders.flatMap(entries =>
    ['find', 'findOne'].flatMap(action => {
      const { value } = decide(entries, type, action)
      if (typeof value !== 'object' || !value.fields) return []
      const names = new Set(coveredNames(value.fields, type))
      const readable = [...readableAttributes(type)].filter(({ name }) => names.has(name))
      return [new Set(readablePaths(type, new Set(readable)))]
    }),
  )

/** The searched paths within the readable attributes of a type. */
export const readablePaths = (type: ContentType, readable: ReadonlySet<Attribute>): readonly string[] =>
  searchFields(type)
    .filter(field => isReadable(field, readable))
    .map(({ path }) => path)

/** In a dynamic zone, the attribute must be readable in every component that has it. */
const isReadable = ({ attribute, parts }: SearchField, readable: ReadonlySet<Attribute>): boolean =>
  readable.has(attribute) && parts.every(part => readableAttributes(part.component).has(part.attribute))
