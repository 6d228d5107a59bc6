import type { GraphQLSchema, OperationDefinitionNode } from 'graphql'
import type { Documents } from '../documents/documents.ts'
import type { Model } from '../model/model.ts'
import type { Observer } from '../observe/observation.ts'
import type { GraphqlSettings } from '../project/settings/settings.ts'
import type { CheckedDocument } from './limits/check-document.ts'
import { type CostTerms, costTermsOf } from './limits/estimate-cost.ts'
import { type Introspection, openIntrospection } from './limits/limit-introspection.ts'
import { wrapMutations } from './mutation-failure.ts'
import {
  type DocumentCache,
  type OperationCache,
  type OperationPlan,
  openDocumentCache,
  openOperationCache,
} from './operation-cache.ts'
import type { PageLimits } from './parse/parse-arguments.ts'
import type { RootField } from './sdl/root-fields.ts'
import type { TrustedDocuments } from './transport/trusted-documents.ts'

/** A schema with its resolvers, and the bounds of what may be asked of it. */
export interface Engine {
  readonly schema: GraphQLSchema
  readonly config: GraphqlSettings['config']
  readonly observer: Observer
  /** Whether the schema may be asked for; where not, no message tells of it either. */
  readonly introspects: boolean
  readonly documents: DocumentCache
  readonly plans: OperationCache
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

/** An operation that may be run. */
export interface PreparedOperation {
  readonly checked: CheckedDocument
  readonly operation: OperationDefinitionNode
  readonly plan: OperationPlan
}

interface EngineTerms {
  readonly model: Model
  readonly documents: Documents
  readonly config: GraphqlSettings['config']
  readonly observer: Observer
  /** Where the schema is nobody's to ask for (contract/graphql.md 11). */
  readonly production: boolean
  /** The root fields that are answered by text where that can be. */
  readonly roots: readonly RootField[]
  readonly trusted: TrustedDocuments | null
}

/** A schema → what runs operations on it. */
export function openEngine(
  schema: GraphQLSchema,
  { model, documents, config, observer, production, roots, trusted }: EngineTerms,
): Engine {
  const { amountLimit, defaultLimit, serverOptions } = config
  const limits = { amountLimit, defaultLimit }
  let introspection: Introspection | undefined
  wrapMutations(schema, new Set(roots.filter(field => field.root === 'Mutation').map(field => field.name)))
  return {
    schema,
    config,
    observer,
    introspects: serverOptions.introspection ?? !production,
    documents: openDocumentCache(serverOptions.cache),
    trusted,
    plans: openOperationCache(serverOptions.cache),
    cost: costTermsOf(model, limits),
    text: {
      model,
      documents,
      limits,
      roots: new Map(roots.map(field => [`${field.root}.${field.name}`, field])),
    },
    introspection() {
      introspection ??= openIntrospection(schema)
      return introspection
    },
  }
}
