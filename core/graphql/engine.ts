import type { DocumentNode, GraphQLSchema, OperationDefinitionNode } from 'graphql'
import type { Observer } from '../observe/observation.ts'
import type { GraphqlSettings } from '../project/settings.ts'

/** A schema with its resolvers, and the bounds of what may be asked of it. */
export interface Engine {
  readonly schema: GraphQLSchema
  readonly config: GraphqlSettings['config']
  readonly observer: Observer
}

/** What a client asks for. */
export interface Asked {
  readonly query: string
  readonly variables: Readonly<Record<string, unknown>>
  readonly operationName: string | null
}

/** An operation that may be run. */
export interface Prepared {
  readonly document: DocumentNode
  readonly operation: OperationDefinitionNode
  readonly variables: Readonly<Record<string, unknown>>
}
