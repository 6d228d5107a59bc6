import type { GraphQLSchema } from 'graphql'
import type { Documents } from '../documents/documents.ts'
import type { Model } from '../model/model.ts'
import type { Observer } from '../observe/observation.ts'
import type { GraphqlSettings } from '../project/settings/settings.ts'
import { openKnownDocuments } from './document-cache.ts'
import type { Engine } from './engine.ts'
import { costTermsOf } from './limits/estimate-cost.ts'
import { type Introspection, openIntrospection } from './limits/limit-introspection.ts'
import { followMutations } from './mutation-failure.ts'
import { openReadyOperations } from './operation-cache.ts'
import type { RootField } from './sdl/root-fields.ts'
import type { TrustedDocuments } from './transport/trusted-documents.ts'

export interface EngineTerms {
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
  followMutations(schema, new Set(roots.filter(field => field.root === 'Mutation').map(field => field.name)))
  return {
    schema,
    config,
    observer,
    introspects: serverOptions.introspection ?? !production,
    documents: openKnownDocuments(serverOptions.cache),
    trusted,
    ready: openReadyOperations(serverOptions.cache),
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
