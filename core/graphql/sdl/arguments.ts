import { graphqlTypeName, graphqlWrapperNames } from '../../model/graphql-names.ts'
import type { ContentType, Holder } from '../../model/model.ts'

export const PAGINATION = 'pagination: PaginationArg = {}'
export const SORT = 'sort: [String] = []'
export const PUBLICATION_STATE = 'publicationState: PublicationState = LIVE'
export const LOCALE = 'locale: I18NLocaleCode'

export const filtersArgument = (holder: Holder): string =>
  `filters: ${graphqlWrapperNames(graphqlTypeName(holder)).filters}`

/** Of a list of rows below a document: relations, media, repeatable components (contract/graphql.md 2). */
export const rowsArguments = (holder: Holder): readonly string[] => [
  ...(isSingle(holder) ? [] : [filtersArgument(holder), PAGINATION, SORT]),
  ...(holder.holder === 'content-type' && holder.draftAndPublish ? [PUBLICATION_STATE] : []),
]

export const localeArgument = ({ localized }: ContentType): readonly string[] => (localized ? [LOCALE] : [])

const isSingle = (holder: Holder): boolean => holder.holder === 'content-type' && holder.kind === 'single'
