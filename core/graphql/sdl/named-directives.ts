import { GraphQLDirective, GraphQLSchema, isInputObjectType } from 'graphql'

/**
 * Names the directives of the spec of October 2021, and of later ones what is used: clients whose list of places for
 * directives is closed (a generated enumeration) cannot read a schema with a word that they do not know.
 */
export function withNamedDirectives(schema: GraphQLSchema): GraphQLSchema {
  const config = schema.toConfig()
  const usesOneOf = config.types.some(type => isInputObjectType(type) && type.isOneOf)
  const directives = config.directives.filter(({ name }) => name !== 'oneOf' || usesOneOf).map(inKnownPlaces)
  return new GraphQLSchema({ ...config, directives })
}

/** Definitions of directives may be deprecated themselves since: nobody's here are. */
function inKnownPlaces(directive: GraphQLDirective): GraphQLDirective {
  if (directive.name !== 'deprecated') return directive
  const config = directive.toConfig()
  const locations = config.locations.filter(place => String(place) !== 'DIRECTIVE_DEFINITION')
  return new GraphQLDirective({ ...config, locations })
}
