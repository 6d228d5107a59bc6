import type { GraphQLSchema, OperationDefinitionNode } from 'graphql'
import type { Documents } from '../documents/documents.ts'
import type { Model } from '../model/model.ts'
import type { Observer } from '../observe/observation.ts'
import type { GraphqlSettings } from '../project/settings/settings.ts'
import type { KnownDocuments } from './document-cache.ts'
import type { CheckedDocument } from './limits/check-document.ts'
import type { CostTerms } from './limits/estimate-cost.ts'
import type { Introspection } from './limits/limit-introspection.ts'
import type { ReadyOperation, ReadyOperations } from './operation-cache.ts'
import type { PageLimits } from './parse/parse-page.ts'
import type { RootField } from './sdl/root-fields.ts'
import type { TrustedDocuments } from './transport/trusted-documents.ts'

/** A schema with its resolvers, and the bounds of what may be asked of it. */
export interface Engine {
  readonly schema: GraphQLSchema
  readonly config: GraphqlSettings['config']
  readonly observer: Observer
  /** Whether the schema may be asked for; where not, no message tells of it either. */
  readonly introspects: boolean
  readonly documents: KnownDocuments
  readonly ready: ReadyOperations
  readonly cost: CostTerms
  /** null: there is no folder of them. */
  readonly trusted: TrustedDocuments | null
  readonly text: TextSource
  /** Made when it is first needed. */
  introspection(): Introspection
}

/** What answers that PostgreSQL writes are read from. */
export interface TextSource {
  readonly model: Model
  readonly documents: Documents
  readonly limits: PageLimits
  /** By `Query.articles`. */
  readonly roots: ReadonlyMap<string, RootField>
}

/** What a client asks for. */
export interface Asked {
  /** Empty where a document is named instead. */
  readonly query: string
  readonly documentId: string | null
  readonly variables: Readonly<Record<string, unknown>>
  readonly operationName: string | null
}

/** An operation that may be run. */
export interface Prepared {
  readonly checked: CheckedDocument
  readonly operation: OperationDefinitionNode
  readonly ready: ReadyOperation
}
