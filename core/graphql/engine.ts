import type { GraphQLSchema, OperationDefinitionNode } from 'graphql'
import type { Documents } from '../documents/documents.ts'
import type { Model } from '../model/model.ts'
import type { Observer } from '../observe/observation.ts'
import type { GraphqlSettings } from '../project/settings/settings.ts'
import type { GraphqlFormat } from './formats/format.ts'
import type { CheckedDocument } from './limits/check-document.ts'
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

/** An executable schema with its caches and limits. */
export interface Engine {
  readonly format: GraphqlFormat
  readonly schema: GraphQLSchema
  readonly config: GraphqlSettings['config']
  readonly observer: Observer
  /** Introspection is allowed; otherwise error messages contain no suggestions either. */
  readonly introspects: boolean
  /** Responses contain the reason of a refusal. */
  readonly showsReasons: boolean
  readonly documents: DocumentCache
  readonly plans: OperationCache
  /** null: no folder of trusted documents is configured. */
  readonly trusted: TrustedDocuments | null
  readonly text: TextSource
  /** Created at the first use. */
  introspection(): Introspection
}

/** Services for answers that PostgreSQL builds as text. */
export interface TextSource {
  readonly format: GraphqlFormat
  readonly model: Model
  readonly documents: Documents
  readonly limits: PageLimits
  /** Root fields by coordinate, such as `Query.articles`. */
  readonly roots: ReadonlyMap<string, RootField>
}

/** An operation that passed all checks. */
export interface PreparedOperation {
  readonly checked: CheckedDocument
  readonly operation: OperationDefinitionNode
  readonly plan: OperationPlan
}

interface EngineOptions {
  readonly format: GraphqlFormat
  readonly model: Model
  readonly documents: Documents
  readonly config: GraphqlSettings['config']
  readonly observer: Observer
  /** In production introspection is off by default (reference/graphql.md#11-limits-playground-and-introspection). */
  readonly production: boolean
  /** In development, responses contain the reason of a refusal. */
  readonly explains?: boolean | undefined
  /** The generated root fields, candidates for text answers. */
  readonly roots: readonly RootField[]
  readonly trusted: TrustedDocuments | null
  /** Document middlewares get documents as values, so their root fields cannot be answered as text. */
  readonly aroundActions?: unknown
}

/** Opens the engine that runs operations on a schema. */
export function openEngine(
  schema: GraphQLSchema,
  {
    format,
    model,
    documents,
    config,
    observer,
    production,
    explains,
    roots,
    trusted,
    aroundActions,
  }: EngineOptions,
): Engine {
  const { amountLimit, defaultLimit, serverOptions } = config
  const limits = { amountLimit, defaultLimit }
  let introspection: Introspection | undefined
  wrapMutations(schema, new Set(roots.filter(field => field.root === 'Mutation').map(field => field.name)))
  return {
    format,
    schema,
    config,
    observer,
    introspects: serverOptions.introspection ?? !production,
    showsReasons: explains === true && !production,
    documents: openDocumentCache(serverOptions.cache),
    trusted,
    plans: openOperationCache(serverOptions.cache),
    text: {
      format,
      model,
      documents,
      limits,
      roots: new Map(
        roots
          .filter(({ type }) => !aroundActions || type.builtIn)
          .map(field => [`${field.root}.${field.name}`, field]),
      ),
    },
    introspection() {
      introspection ??= openIntrospection(schema)
      return introspection
    },
  }
}
