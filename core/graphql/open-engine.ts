import type { GraphQLSchema } from 'graphql'
import type { Model } from '../model/model.ts'
import type { Observer } from '../observe/observation.ts'
import type { GraphqlSettings } from '../project/settings.ts'
import type { Engine } from './engine.ts'
import { costTermsOf } from './estimate-cost.ts'
import { openKnownDocuments } from './known-documents.ts'
import { type Introspection, openIntrospection } from './limit-introspection.ts'

export interface EngineTerms {
  readonly model: Model
  readonly config: GraphqlSettings['config']
  readonly observer: Observer
  /** Where the schema is nobody's to ask for (contract/graphql.md 11). */
  readonly production: boolean
}

/** A schema → what runs operations on it. */
export function openEngine(
  schema: GraphQLSchema,
  { model, config, observer, production }: EngineTerms,
): Engine {
  const { amountLimit, defaultLimit, serverOptions } = config
  let introspection: Introspection | undefined
  return {
    schema,
    config,
    observer,
    introspects: !production,
    documents: openKnownDocuments(serverOptions.cache),
    cost: costTermsOf(model, { amountLimit, defaultLimit }),
    introspection() {
      introspection ??= openIntrospection(schema)
      return introspection
    },
  }
}
