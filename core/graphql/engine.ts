import type { GraphQLSchema, OperationDefinitionNode } from 'graphql'
import type { Observer } from '../observe/observation.ts'
import type { GraphqlSettings } from '../project/settings.ts'
import type { CheckedDocument } from './check-document.ts'
import type { CostTerms } from './estimate-cost.ts'
import type { KnownDocuments } from './known-documents.ts'
import type { Introspection } from './limit-introspection.ts'

/** A schema with its resolvers, and the bounds of what may be asked of it. */
export interface Engine {
  readonly schema: GraphQLSchema
  readonly config: GraphqlSettings['config']
  readonly observer: Observer
  /** Whether the schema may be asked for; where not, no message tells of it either. */
  readonly introspects: boolean
  readonly documents: KnownDocuments
  readonly cost: CostTerms
  /** Made when it is first needed. */
  introspection(): Introspection
}

/** What a client asks for. */
export interface Asked {
  readonly query: string
  readonly variables: Readonly<Record<string, unknown>>
  readonly operationName: string | null
}

/** An operation that may be run. */
export interface Prepared {
  readonly checked: CheckedDocument
  readonly operation: OperationDefinitionNode
  readonly variables: Readonly<Record<string, unknown>>
}
