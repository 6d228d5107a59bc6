import { graphqlTypeName, graphqlWrapperNames } from '../../model/graphql-names.ts'
import type { Attribute, Holder } from '../../model/model.ts'
import { attributesInOrder, tells } from './output-fields.ts'
import { filterInputName, SCALAR_NAMES } from './scalar-names.ts'
import { field } from './sdl.ts'
import type { ShadowCrud } from './shadow-crud.ts'

/**
 * The fields of `<Type>FiltersInput`: what may be filtered by, and private attributes, whose use is refused when
 * the query is narrowed to its caller (contract/graphql.md 8). Media and zones are not among them.
 */
export function filterFields(holder: Holder, shadow: ShadowCrud): readonly string[] {
  const name = graphqlWrapperNames(graphqlTypeName(holder)).filters
  const fields = attributesInOrder(holder)
    .filter(
      attribute =>
        !isInternal(attribute) &&
        !isPassword(attribute) &&
        tells(holder, attribute) &&
        shadow.has(holder, attribute, 'filters'),
    )
    .flatMap(attribute => {
      const type = filterType(attribute)
      return type === null ? [] : [field(attribute.name, type)]
    })
  const id = holder.holder === 'content-type' ? ['id: IDFilterInput'] : []
  return [...id, ...fields, field('and', `[${name}]`), field('or', `[${name}]`), field('not', name)]
}

/** contract/graphql.md 0: passwords are never in outputs or filters. */
const isPassword = (attribute: Attribute): boolean =>
  attribute.kind === 'scalar' && attribute.type === 'password'

/** What the server alone reads and writes. */
const isInternal = ({ private: hidden, writable, system }: Attribute): boolean =>
  hidden && !writable && !system

function filterType(attribute: Attribute): string | null {
  switch (attribute.kind) {
    case 'scalar':
      return filterInputName(SCALAR_NAMES[attribute.type])
    case 'component':
      return filtersOf(attribute.component)
    case 'relation':
    case 'localizations':
      return attribute.target.kind === 'single' ? null : filtersOf(attribute.target)
    case 'media':
    case 'zone':
      return null
  }
}

const filtersOf = (holder: Holder): string => graphqlWrapperNames(graphqlTypeName(holder)).filters
