import type { ContentType, Holder } from '../../model/model.ts'
import { graphqlTypeName, graphqlWrapperNames } from '../../model/names.ts'
import type { GraphqlFormat } from '../formats/format.ts'

/** One definition in the schema language; empty if it would have no fields, which the language does not allow. */
export type Sdl = string

export const objectType = (name: string, fields: readonly string[]): Sdl => block('type', name, fields)

export const inputType = (name: string, fields: readonly string[]): Sdl => block('input', name, fields)

export const enumType = (name: string, values: readonly string[]): Sdl => block('enum', name, values)

export const unionType = (name: string, members: readonly string[]): Sdl =>
  `union ${name} = ${members.join(' | ')}`

export const scalarType = (name: string): Sdl => `scalar ${name}`

/** `title: String!`, `articles(sort: [String] = []): …` */
export function field(name: string, type: string, args: readonly string[] = []): string {
  const input = args.length > 0 ? `(${args.join(', ')})` : ''
  return `${name}${input}: ${type}`
}

const block = (keyword: string, name: string, lines: readonly string[]): Sdl =>
  lines.length === 0 ? '' : `${keyword} ${name} {\n${lines.map(line => `  ${line}`).join('\n')}\n}`

export const PAGINATION = 'pagination: PaginationArg = {}'
export const SORT = 'sort: [String] = []'
export const PUBLICATION_STATE = 'publicationState: PublicationState = LIVE'
const LOCALE = 'locale: I18NLocaleCode'

export const filtersArgument = (holder: Holder): string =>
  `filters: ${graphqlWrapperNames(graphqlTypeName(holder)).filters}`

/** The arguments of nested lists: relations, media, repeatable components (reference/graphql.md#2-generated-types). */
export const rowsArguments = (holder: Holder, { name }: GraphqlFormat): readonly string[] => [
  ...(isSingle(holder) ? [] : [filtersArgument(holder), PAGINATION, SORT]),
  ...(name === 'nested' && holder.holder === 'content-type' && holder.draftAndPublish
    ? [PUBLICATION_STATE]
    : []),
]

/** Full-text search of a list (docs/search.md). */
export const searchArgument = ({ search }: ContentType): readonly string[] =>
  search ? ['search: String'] : []

export const localeArgument = ({ localized }: ContentType): readonly string[] => (localized ? [LOCALE] : [])

/** The same with the description that the flat format has. */
export const describedLocaleArgument = (type: ContentType): readonly string[] =>
  localeArgument(type).map(argument => `"The locale to use for the query"\n${argument}`)

const isSingle = (holder: Holder): boolean => holder.holder === 'content-type' && holder.kind === 'single'
