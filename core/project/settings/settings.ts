// Made from project.schema.json by `npm run generate`: change that file, not this one.

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }

/** Cardinality. The first part is the number of documents of this content type for one target, the second part the number of targets for one document. Without `inversedBy` and `mappedBy`, several documents may link to one target. */
export type RelationKind = 'oneToOne' | 'oneToMany' | 'manyToOne' | 'manyToMany'
/** Kind of a file. */
export type MediaKind = 'images' | 'videos' | 'audios' | 'files'
/** A search that finds nothing is repeated with similar words of the texts. Needs the extension pg_trgm. */
export type TypingErrors = boolean
/** API token. */
export type ApiTokenDeclaration = PlainToken | CustomToken

/** A checked project file: defaults are filled in, short forms expanded, amounts are numbers. */
export interface Settings {
  /** Name of the project. */
  readonly name: string
  /** Files of the same format to merge into this file. Paths are relative to this file; `*` and `?` match within a name, `**` matches folders. No name may be defined in two files. */
  readonly include: readonly string[]
  readonly server: ServerSettings
  readonly database: DatabaseSettings
  readonly i18n: LocaleSettings
  readonly rest: RestSettings
  /** Console: pages for browsers that edit content over REST (docs/console.md). */
  readonly console: {
    /** When the console is served. Where it is and `rest.openapi` is not, signed-in users still get the OpenAPI document of their role, because the console needs it. */
    readonly enabled: 'development' | 'always' | 'never'
    /** Path of the console. */
    readonly path: string
  }
  readonly graphql: GraphqlSettings
  /** Response cache. Cached responses are never stale. */
  readonly cache: {
    /** Caches responses. */
    readonly enabled: boolean
    /** Maximum memory of the cache in one process. In bytes. 0 disables the cache. */
    readonly maxBytes: number
  }
  /** Express middlewares that run before each request, in this order. Each is a name or `{ name, options }`. */
  readonly middlewares: readonly MiddlewareUse[]
  /** A policy that takes longer denies the request. In milliseconds. */
  readonly policyTimeout: number
  /** Groups of attributes for content types, by `category.name`. */
  readonly components: {
    readonly [k: string]: ComponentDeclaration
  }
  /** Content types, by singular API ID. */
  readonly contentTypes: {
    readonly [k: string]: ContentTypeDeclaration
  }
  /** Built-in content type `user`. */
  readonly user: {
    readonly attributes: AttributeDeclarations
  }
  /** Roles. `public` applies to requests without a token, `authenticated` to users without another role. */
  readonly roles: {
    readonly public: RoleDeclaration
    readonly authenticated: RoleDeclaration
    readonly [k: string]: RoleDeclaration
  }
  /** API tokens, by name. */
  readonly apiTokens: {
    readonly [k: string]: ApiTokenDeclaration
  }
  /** Policies and middlewares of REST routes, by `<type>.<action>`. */
  readonly routesConfig: {
    readonly [k: string]: OperationSettings
  }
  /** Policies and middlewares of GraphQL resolvers, by `<Type>.<field>`. */
  readonly resolversConfig: {
    readonly [k: string]: OperationSettings
  }
  readonly auth: AuthSettings
  readonly upload: UploadSettings
}
/** HTTP server. */
export interface ServerSettings {
  /** IP address to listen on. */
  readonly host: string
  /** TCP port to listen on. 0 selects a free port. */
  readonly port: number
  /** Public URL of the server, for absolute links. Default: `http://localhost:<port>`. */
  readonly url: string
  /** Cross-origin requests from browsers (CORS). */
  readonly cors: {
    /** Origins that may call the API, such as https://example.org, or `*` for all origins. */
    readonly origins: readonly string[]
    /** Further request headers that browsers may send from other origins, such as X-Tenant, or `*` for all. */
    readonly headers: readonly string[]
    /** Allows browsers to send credentials. It needs a list of origins without `*`. */
    readonly credentials: boolean
  }
  /** Maximum size of a request body, except for uploads. In bytes. */
  readonly bodyLimit: number
  /** Maximum duration of a request. In milliseconds. */
  readonly requestTimeout: number
  /** With several workers: a worker whose event loop is blocked for this duration is replaced. In milliseconds. 0 disables this. */
  readonly stallTimeout: number
  /** Reads the address of the caller from X-Forwarded-For of the nearest proxy. */
  readonly trustProxy: boolean
  /** Maximum number of requests per caller. */
  readonly rateLimit: {
    /** Limit for the whole API, counted in each process by network address, user or API token (docs/fairness.md). `false` disables it. */
    readonly api: false | ApiRateLimit
    /** Limit for sign-in, registration and mails, counted in the database. `false` disables it. */
    readonly auth: false | RateLimit
    /** Limit for failed sign-ins of one user, counted for all addresses together. Networks that signed in before are exempt. `false` disables it. */
    readonly account: false | AccountRateLimit
  }
  /** Sends HTTP headers that restrict what browsers do with the responses. */
  readonly securityHeaders: boolean
  /** Metrics for Prometheus. */
  readonly metrics: {
    /** Serves metrics. */
    readonly enabled: boolean
    /** Path of the metrics. Without `port` this key is required, because the metrics are then public on the port of the server. */
    readonly path: string
    /** Separate port for metrics. With `null` the port of the server serves them at `path`. */
    readonly port: number | null
  }
  /** Statements and transactions that take longer are logged, without values. In milliseconds. 0 disables this. */
  readonly slowQuery: number
  /** In development, the details of refusals (401, 403, 429) contain `reason`: the missing permission and the line that grants it. Production only logs reasons. */
  readonly explainDenials: boolean
  /** When `/` shows browsers a page with the content-types and links. In production it names only what callers without credentials may read. */
  readonly landingPage: 'development' | 'always' | 'never'
  /** Minimum level of log lines. */
  readonly logLevel: 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent'
}
/** Maximum number of requests in a window of time. */
export interface ApiRateLimit {
  /** Length of the window. In milliseconds. */
  readonly window: number
  /** Maximum number of requests of one address or user in the window. */
  readonly max: number
  /** Maximum number of requests of one API token in the window. Default: `max`. */
  readonly tokenMax: number
  /** Also limits loopback and private addresses. A proxy without `trustProxy` counts as one address for all of its clients. */
  readonly privateNetworks: boolean
}
/** Maximum number of requests in a window of time. */
export interface RateLimit {
  /** Length of the window. In milliseconds. */
  readonly window: number
  /** Maximum number of requests in the window. */
  readonly max: number
}
/** Maximum number of failed sign-ins in a window of time. */
export interface AccountRateLimit {
  /** Length of the window. In milliseconds. */
  readonly window: number
  /** Maximum number of failed sign-ins in the window. */
  readonly max: number
}
/** PostgreSQL database. */
export interface DatabaseSettings {
  /** `embedded` (PostgreSQL inside the process, with its files in .plinth/), or an address such as postgres://user:password@host/name. */
  readonly url: string
  /** Addresses of streaming replicas of `url`, which serve reads (docs/scale.md). Empty texts are ignored. */
  readonly replicas: readonly string[]
  /** A replica that is further behind the primary serves no reads. In milliseconds. */
  readonly replicaLag: number
  /** Connection pool of one process. */
  readonly pool: {
    /** Maximum number of open connections. */
    readonly max: number
    /** An unused connection is closed after this duration. In milliseconds. */
    readonly idle: number
    /** A request that waits longer for a connection fails with status 503. In milliseconds. */
    readonly acquire: number
  }
  /** How long the start waits for a database that is unreachable or read-only. In milliseconds. With 0, and for a wrong password or a missing database, the start fails immediately. */
  readonly startTimeout: number
  /** Maximum duration of one SQL statement. In milliseconds. */
  readonly statementTimeout: number
  /** Limits for the database work of one request (docs/fairness.md). */
  readonly limits: {
    /** Maximum number of statements and transactions that one request runs at the same time. */
    readonly statements: number
    /** Maximum duration of one read. In milliseconds. With 0 only `statementTimeout` applies. */
    readonly time: number
    /** Maximum size of the result of one read; a larger result fails with status 400. In bytes. 0 disables the limit. */
    readonly bytes: number
  }
  /** Uses prepared statements. Set `false` if a connection pooler in transaction mode does not support them (docs/scale.md). */
  readonly preparedStatements: boolean
  /** `derived` adds indexes for conditions of roles and tokens, and for lists sorted by `createdAt` and `publishedAt`. `declared` creates only declared indexes and those that links and unique values need (docs/storage.md). */
  readonly indexes: 'derived' | 'declared'
  /** Name of the PostgreSQL schema that contains the tables. */
  readonly schema: string
}
/** Locales of localized content types. */
export interface LocaleSettings {
  /** Locales: codes such as `fr` or `fr-FR`, or mappings. */
  readonly locales: readonly LocaleDeclaration[]
  /** Locale of requests that name none. It must be one of `locales`; if there is only one locale, it is the default. */
  readonly defaultLocale: string
}
/** Locale as a mapping. */
export interface LocaleDeclaration {
  /** Language code, optionally with script and region: `fr`, `fr-FR`, `zh-Hans`. */
  readonly code: string
  /** Display name. Default: the English name of the language and the code in parentheses. */
  readonly name: string
  /** Previous code of the locale. Its documents are kept. */
  readonly renamedFrom?: string
}
/** REST API. */
export interface RestSettings {
  /** Path prefix of all routes. */
  readonly prefix: string
  /** Number of documents in a list if the request names none. If it is not set, it is at most `maxLimit`. */
  readonly defaultLimit: number
  /** Maximum number of documents in a list. If it is not set, it is at least `defaultLimit`. */
  readonly maxLimit: number
  /** Counts the total of a list unless the request disables it; `estimate` counts at most 10,000 documents. */
  readonly withCount: true | false | 'estimate'
  /** `v4` serves Strapi 4's REST: documents with `data` and `attributes`, numeric ids in addresses, `publicationState`. `v4-flat` serves the same requests and answers flat documents, as strapi-plugin-transformer does. The header `Strapi-Response-Format` (`v4`, `v5`) overrides the format of one answer. */
  readonly responseFormat: 'v5' | 'v4' | 'v4-flat'
  /** Depth of `populate=deep`, which populates all relations, files, components and dynamic zones (strapi-plugin-populate-deep); `populate=deep,3` is another depth. If it is not set, `populate=deep` is refused, or ignored with `responseFormat: v4`. */
  readonly populateDeep?: number
  /** Serves `<prefix>/openapi.json`, the description of the API for the caller's role. If it is not set, it is served except in production. */
  readonly openapi?: boolean
}
/** GraphQL API. */
export interface GraphqlSettings {
  /** Serves the GraphQL API. */
  readonly enabled: boolean
  /** Options of the GraphQL server. */
  readonly config: {
    /** Path of the GraphQL endpoint. */
    readonly endpoint: string
    /** Serves the nested format of Strapi 4 (`data`, `attributes`); false: the flat format of Strapi 5. */
    readonly v4CompatibilityMode: boolean
    /** The `id` of a document in the nested format. `document`: its documentId, the same in all locales and versions; `record`: Strapi 4's number, different for each locale and version. */
    readonly entityId: 'document' | 'record'
    /** Generates the schema from the content types. With `false` only extensions define it. */
    readonly shadowCRUD: boolean
    /** Serves the playground in production as well. */
    readonly playgroundAlways: boolean
    /** Maximum depth of an operation: a root field is level 0, and fragments add none. */
    readonly depthLimit: number
    /** Maximum number of documents in each list. If it is not set, it is at least `defaultLimit`. */
    readonly amountLimit: number
    /** Number of documents in a list if the request names none. If it is not set, it is at most `amountLimit`. */
    readonly defaultLimit: number
    /** Options with the names of Apollo Server. */
    readonly serverOptions: {
      /** Always `false`, because the tracing extension of Apollo is not supported. */
      readonly tracing: false
      /** `bounded` caches parsed documents up to a fixed size; `false` caches none. */
      readonly cache: 'bounded' | false
      /** Allows introspection. If it is not set, introspection is allowed except in production. */
      readonly introspection?: boolean
      /** Allows several operations in one request. */
      readonly allowBatchedHttpRequests: boolean
      /** Always `true`: requests that a page of another site can send without a preflight are rejected. */
      readonly csrfPrevention: true
      /** Always `false`: stack traces are written to the log, with the request id. */
      readonly includeStacktraceInErrorResponses: false
    }
    /** Limits for one request. */
    readonly limits: {
      /** Maximum number of fields with an alias, after fragments are expanded. */
      readonly aliases: number
      /** Maximum number of fields of Query or Mutation. */
      readonly rootFields: number
      /** Maximum number of tokens in the document. */
      readonly tokens: number
      /** Maximum duration of a request. In milliseconds. */
      readonly time: number
    }
    /** Persisted operations. */
    readonly trustedDocuments: {
      /** Folder of .graphql files, relative to project.yaml. */
      readonly folder: string | null
      /** Rejects all other operations. */
      readonly only: boolean
    }
  }
  /** Several endpoints, each with its format: `/graphql: nested`, `/graphql5: flat`. Replaces `config.endpoint` and `config.v4CompatibilityMode`, which give one. */
  readonly endpoints: {
    readonly [k: string]: 'nested' | 'flat'
  }
  /** Parts of the generated schema to disable, by content type. Extensions can do the same in code. */
  readonly shadowCRUD: {
    readonly [k: string]: ShadowCrudOptions
  }
}
/** Generated parts of the schema for one content type. */
export interface ShadowCrudOptions {
  /** Generates types and operations for the content type. */
  readonly enabled: boolean
  /** Generates queries. */
  readonly queries: boolean
  /** Generates mutations. */
  readonly mutations: boolean
  /** Generated actions. */
  readonly actions: {
    /** Generates the list query. */
    readonly find: boolean
    /** Generates the query for one document. */
    readonly findOne: boolean
    /** Generates the create mutation. */
    readonly create: boolean
    /** Generates the update mutation. */
    readonly update: boolean
    /** Generates the delete mutation. */
    readonly delete: boolean
  }
  /** Generated attributes, by name. */
  readonly fields: {
    /** One attribute. */
    readonly [k: string]: {
      /** Includes the attribute in the schema. */
      readonly enabled: boolean
      /** Includes the attribute in output types. */
      readonly output: boolean
      /** Includes the attribute in input types. */
      readonly input: boolean
      /** Includes the attribute in filters. */
      readonly filters: boolean
    }
  }
}
/** Middleware with options. */
export interface MiddlewareUse {
  /** Name of a plugin module: its path in its folder, without the extension. */
  readonly name: string
  /** Options of the middleware. */
  readonly options: Json
}
/** Component. */
export interface ComponentDeclaration {
  /** Previous name of the component. Its tables are renamed, not dropped. */
  readonly renamedFrom?: string
  /** Display name. Default: the name in words. */
  readonly displayName?: string
  /** Purpose of the component. */
  readonly description?: string
  readonly attributes: AttributeDeclarations
}
/** Attributes by name. Each is a type or a mapping. */
export interface AttributeDeclarations {
  /** Attribute. `excerpt: text` is the short form of `excerpt: { type: text }`. */
  readonly [k: string]:
    | {
        /** Type of the attribute. */
        readonly type: 'string' | 'text' | 'email'
        /** Minimum number of characters. */
        readonly minLength?: number
        /** Maximum number of characters. */
        readonly maxLength?: number
        /** JavaScript regular expression that values must match. */
        readonly regex?: string
        /** Two published documents of one locale cannot have the same value. */
        readonly unique: boolean
        /** Value of a new document whose request has no value. `null` counts as a value. */
        readonly default?: string
        /** Value of documents that existed before the attribute was added. */
        readonly backfill?: string
        /** Previous name of the attribute. Its column is renamed, not dropped. */
        readonly renamedFrom?: string
        /** Rejects documents without a value. Drafts may omit it. */
        readonly required: boolean
        /** Hides the attribute from all callers: it is not in responses, filters or sorts. */
        readonly private: boolean
        /** `false`: requests cannot write the attribute, only code can. */
        readonly writable: boolean
        /** Each locale has its own value. Default: the setting of the content type; a uid or relation is always localized. */
        readonly localized?: boolean
      }
    | {
        /** Type of the attribute. */
        readonly type: 'richtext'
        /** Minimum number of characters. */
        readonly minLength?: number
        /** Maximum number of characters. */
        readonly maxLength?: number
        /** JavaScript regular expression that values must match. */
        readonly regex?: string
        /** Value of a new document whose request has no value. `null` counts as a value. */
        readonly default?: string
        /** Value of documents that existed before the attribute was added. */
        readonly backfill?: string
        /** Previous name of the attribute. Its column is renamed, not dropped. */
        readonly renamedFrom?: string
        /** Rejects documents without a value. Drafts may omit it. */
        readonly required: boolean
        /** Hides the attribute from all callers: it is not in responses, filters or sorts. */
        readonly private: boolean
        /** `false`: requests cannot write the attribute, only code can. */
        readonly writable: boolean
        /** Each locale has its own value. Default: the setting of the content type; a uid or relation is always localized. */
        readonly localized?: boolean
      }
    | {
        /** Type of the attribute. */
        readonly type: 'password'
        /** Minimum number of characters. */
        readonly minLength?: number
        /** Maximum number of characters. */
        readonly maxLength?: number
        /** JavaScript regular expression that values must match. */
        readonly regex?: string
        /** Previous name of the attribute. Its column is renamed, not dropped. */
        readonly renamedFrom?: string
        /** Rejects documents without a value. Drafts may omit it. */
        readonly required: boolean
        /** Hides the attribute from all callers: it is not in responses, filters or sorts. */
        readonly private: boolean
        /** `false`: requests cannot write the attribute, only code can. */
        readonly writable: boolean
        /** Each locale has its own value. Default: the setting of the content type; a uid or relation is always localized. */
        readonly localized?: boolean
      }
    | {
        /** Type of the attribute. */
        readonly type: 'uid'
        /** Attribute to generate the uid from. */
        readonly targetField?: string
        /** Generates the uid from `targetField` if a write omits it, except over GraphQL. */
        readonly generate: boolean
        /** Minimum number of characters. */
        readonly minLength?: number
        /** Maximum number of characters. */
        readonly maxLength?: number
        /** JavaScript regular expression that values must match. */
        readonly regex?: string
        /** Value of a new document whose request has no value. `null` counts as a value. */
        readonly default?: string
        /** Value of documents that existed before the attribute was added. */
        readonly backfill?: string
        /** Previous name of the attribute. Its column is renamed, not dropped. */
        readonly renamedFrom?: string
        /** Rejects documents without a value. Drafts may omit it. */
        readonly required: boolean
        /** Hides the attribute from all callers: it is not in responses, filters or sorts. */
        readonly private: boolean
        /** `false`: requests cannot write the attribute, only code can. */
        readonly writable: boolean
        /** Each locale has its own value. Default: the setting of the content type; a uid or relation is always localized. */
        readonly localized?: boolean
      }
    | {
        /** Type of the attribute. */
        readonly type: 'enumeration'
        /** Values of the enumeration, in order. */
        readonly enum: readonly {
          /** The value. */
          readonly value: string
          /** Previous value. Documents with it are updated. */
          readonly renamedFrom?: string
        }[]
        /** Two published documents of one locale cannot have the same value. */
        readonly unique: boolean
        /** Value of a new document whose request has no value. `null` counts as a value. */
        readonly default?: string
        /** Value of documents that existed before the attribute was added. */
        readonly backfill?: string
        /** Previous name of the attribute. Its column is renamed, not dropped. */
        readonly renamedFrom?: string
        /** Rejects documents without a value. Drafts may omit it. */
        readonly required: boolean
        /** Hides the attribute from all callers: it is not in responses, filters or sorts. */
        readonly private: boolean
        /** `false`: requests cannot write the attribute, only code can. */
        readonly writable: boolean
        /** Each locale has its own value. Default: the setting of the content type; a uid or relation is always localized. */
        readonly localized?: boolean
      }
    | {
        /** Type of the attribute. */
        readonly type: 'date'
        /** Two published documents of one locale cannot have the same value. */
        readonly unique: boolean
        /** Value of a new document whose request has no value. `null` counts as a value. */
        readonly default?: string
        /** Value of documents that existed before the attribute was added. */
        readonly backfill?: string
        /** Previous name of the attribute. Its column is renamed, not dropped. */
        readonly renamedFrom?: string
        /** Rejects documents without a value. Drafts may omit it. */
        readonly required: boolean
        /** Hides the attribute from all callers: it is not in responses, filters or sorts. */
        readonly private: boolean
        /** `false`: requests cannot write the attribute, only code can. */
        readonly writable: boolean
        /** Each locale has its own value. Default: the setting of the content type; a uid or relation is always localized. */
        readonly localized?: boolean
      }
    | {
        /** Type of the attribute. */
        readonly type: 'time'
        /** Two published documents of one locale cannot have the same value. */
        readonly unique: boolean
        /** Value of a new document whose request has no value. `null` counts as a value. */
        readonly default?: string
        /** Value of documents that existed before the attribute was added. */
        readonly backfill?: string
        /** Previous name of the attribute. Its column is renamed, not dropped. */
        readonly renamedFrom?: string
        /** Rejects documents without a value. Drafts may omit it. */
        readonly required: boolean
        /** Hides the attribute from all callers: it is not in responses, filters or sorts. */
        readonly private: boolean
        /** `false`: requests cannot write the attribute, only code can. */
        readonly writable: boolean
        /** Each locale has its own value. Default: the setting of the content type; a uid or relation is always localized. */
        readonly localized?: boolean
      }
    | {
        /** Type of the attribute. */
        readonly type: 'datetime' | 'timestamp'
        /** Two published documents of one locale cannot have the same value. */
        readonly unique: boolean
        /** Value of a new document whose request has no value. `null` counts as a value. */
        readonly default?: string
        /** Value of documents that existed before the attribute was added. */
        readonly backfill?: string
        /** Previous name of the attribute. Its column is renamed, not dropped. */
        readonly renamedFrom?: string
        /** Rejects documents without a value. Drafts may omit it. */
        readonly required: boolean
        /** Hides the attribute from all callers: it is not in responses, filters or sorts. */
        readonly private: boolean
        /** `false`: requests cannot write the attribute, only code can. */
        readonly writable: boolean
        /** Each locale has its own value. Default: the setting of the content type; a uid or relation is always localized. */
        readonly localized?: boolean
      }
    | {
        /** Type of the attribute. */
        readonly type: 'integer'
        /** Minimum value. */
        readonly min?: number
        /** Maximum value. */
        readonly max?: number
        /** Two published documents of one locale cannot have the same value. */
        readonly unique: boolean
        /** Value of a new document whose request has no value. `null` counts as a value. */
        readonly default?: number
        /** Value of documents that existed before the attribute was added. */
        readonly backfill?: number
        /** Previous name of the attribute. Its column is renamed, not dropped. */
        readonly renamedFrom?: string
        /** Rejects documents without a value. Drafts may omit it. */
        readonly required: boolean
        /** Hides the attribute from all callers: it is not in responses, filters or sorts. */
        readonly private: boolean
        /** `false`: requests cannot write the attribute, only code can. */
        readonly writable: boolean
        /** Each locale has its own value. Default: the setting of the content type; a uid or relation is always localized. */
        readonly localized?: boolean
      }
    | {
        /** Type of the attribute. */
        readonly type: 'biginteger'
        /** Minimum value. */
        readonly min?: number | string
        /** Maximum value. */
        readonly max?: number | string
        /** Two published documents of one locale cannot have the same value. */
        readonly unique: boolean
        /** Value of a new document whose request has no value. `null` counts as a value. */
        readonly default?: number | string
        /** Value of documents that existed before the attribute was added. */
        readonly backfill?: number | string
        /** Previous name of the attribute. Its column is renamed, not dropped. */
        readonly renamedFrom?: string
        /** Rejects documents without a value. Drafts may omit it. */
        readonly required: boolean
        /** Hides the attribute from all callers: it is not in responses, filters or sorts. */
        readonly private: boolean
        /** `false`: requests cannot write the attribute, only code can. */
        readonly writable: boolean
        /** Each locale has its own value. Default: the setting of the content type; a uid or relation is always localized. */
        readonly localized?: boolean
      }
    | {
        /** Type of the attribute. */
        readonly type: 'float' | 'decimal'
        /** Minimum value. */
        readonly min?: number
        /** Maximum value. */
        readonly max?: number
        /** Two published documents of one locale cannot have the same value. */
        readonly unique: boolean
        /** Value of a new document whose request has no value. `null` counts as a value. */
        readonly default?: number
        /** Value of documents that existed before the attribute was added. */
        readonly backfill?: number
        /** Previous name of the attribute. Its column is renamed, not dropped. */
        readonly renamedFrom?: string
        /** Rejects documents without a value. Drafts may omit it. */
        readonly required: boolean
        /** Hides the attribute from all callers: it is not in responses, filters or sorts. */
        readonly private: boolean
        /** `false`: requests cannot write the attribute, only code can. */
        readonly writable: boolean
        /** Each locale has its own value. Default: the setting of the content type; a uid or relation is always localized. */
        readonly localized?: boolean
      }
    | {
        /** Type of the attribute. */
        readonly type: 'boolean'
        /** Value of a new document whose request has no value. `null` counts as a value. */
        readonly default?: boolean
        /** Value of documents that existed before the attribute was added. */
        readonly backfill?: boolean
        /** Previous name of the attribute. Its column is renamed, not dropped. */
        readonly renamedFrom?: string
        /** Rejects documents without a value. Drafts may omit it. */
        readonly required: boolean
        /** Hides the attribute from all callers: it is not in responses, filters or sorts. */
        readonly private: boolean
        /** `false`: requests cannot write the attribute, only code can. */
        readonly writable: boolean
        /** Each locale has its own value. Default: the setting of the content type; a uid or relation is always localized. */
        readonly localized?: boolean
      }
    | {
        /** Type of the attribute. */
        readonly type: 'json'
        /** Value of a new document whose request has no value. `null` counts as a value. */
        readonly default?: Json
        /** Value of documents that existed before the attribute was added. */
        readonly backfill?: Json
        /** Previous name of the attribute. Its column is renamed, not dropped. */
        readonly renamedFrom?: string
        /** Rejects documents without a value. Drafts may omit it. */
        readonly required: boolean
        /** Hides the attribute from all callers: it is not in responses, filters or sorts. */
        readonly private: boolean
        /** `false`: requests cannot write the attribute, only code can. */
        readonly writable: boolean
        /** Each locale has its own value. Default: the setting of the content type; a uid or relation is always localized. */
        readonly localized?: boolean
      }
    | {
        /** Type of the attribute. */
        readonly type: 'array' | 'blocks'
        /** Value of a new document whose request has no value. `null` counts as a value. */
        readonly default?: readonly Json[]
        /** Value of documents that existed before the attribute was added. */
        readonly backfill?: readonly Json[]
        /** Previous name of the attribute. Its column is renamed, not dropped. */
        readonly renamedFrom?: string
        /** Rejects documents without a value. Drafts may omit it. */
        readonly required: boolean
        /** Hides the attribute from all callers: it is not in responses, filters or sorts. */
        readonly private: boolean
        /** `false`: requests cannot write the attribute, only code can. */
        readonly writable: boolean
        /** Each locale has its own value. Default: the setting of the content type; a uid or relation is always localized. */
        readonly localized?: boolean
      }
    | RelationDeclaration
    | MediaDeclaration
    | ComponentUse
    | DynamicZoneDeclaration
}
/** Links to documents of a content type. */
export interface RelationDeclaration {
  /** Type of the attribute. */
  readonly type: 'relation'
  readonly relation: RelationKind
  /** Key of the target content type, or `user`, `file` or `role`. */
  readonly target: string
  /** Attribute of the target for the other side. This side stores the link. */
  readonly inversedBy?: string
  /** Attribute of the target that stores the link. This side is the inverse. */
  readonly mappedBy?: string
  /** Previous name of the attribute. Its column is renamed, not dropped. */
  readonly renamedFrom?: string
  /** Rejects documents without a value. Drafts may omit it. */
  readonly required: boolean
  /** Hides the attribute from all callers: it is not in responses, filters or sorts. */
  readonly private: boolean
  /** `false`: requests cannot write the attribute, only code can. */
  readonly writable: boolean
  /** Each locale has its own value. Default: the setting of the content type; a uid or relation is always localized. */
  readonly localized?: boolean
}
/** Links to uploaded files. */
export interface MediaDeclaration {
  /** Type of the attribute. */
  readonly type: 'media'
  /** Allows several files. */
  readonly multiple: boolean
  /** Accepted kinds of files. */
  readonly allowedTypes: readonly MediaKind[]
  /** Previous name of the attribute. Its column is renamed, not dropped. */
  readonly renamedFrom?: string
  /** Rejects documents without a value. Drafts may omit it. */
  readonly required: boolean
  /** Hides the attribute from all callers: it is not in responses, filters or sorts. */
  readonly private: boolean
  /** `false`: requests cannot write the attribute, only code can. */
  readonly writable: boolean
  /** Each locale has its own value. Default: the setting of the content type; a uid or relation is always localized. */
  readonly localized?: boolean
}
/** A component, or a list of components of one kind. */
export interface ComponentUse {
  /** Type of the attribute. */
  readonly type: 'component'
  /** Component as `category.name`. */
  readonly component: string
  /** Allows a list of components. */
  readonly repeatable: boolean
  /** Minimum number of components. */
  readonly min?: number
  /** Maximum number of components. */
  readonly max?: number
  /** Previous name of the attribute. Its column is renamed, not dropped. */
  readonly renamedFrom?: string
  /** Rejects documents without a value. Drafts may omit it. */
  readonly required: boolean
  /** Hides the attribute from all callers: it is not in responses, filters or sorts. */
  readonly private: boolean
  /** `false`: requests cannot write the attribute, only code can. */
  readonly writable: boolean
  /** Each locale has its own value. Default: the setting of the content type; a uid or relation is always localized. */
  readonly localized?: boolean
}
/** A list of components of several kinds. */
export interface DynamicZoneDeclaration {
  /** Type of the attribute. */
  readonly type: 'dynamiczone'
  /** Components that the dynamic zone accepts. */
  readonly components: readonly string[]
  /** Minimum number of components. */
  readonly min?: number
  /** Maximum number of components. */
  readonly max?: number
  /** Previous name of the attribute. Its column is renamed, not dropped. */
  readonly renamedFrom?: string
  /** Rejects documents without a value. Drafts may omit it. */
  readonly required: boolean
  /** Hides the attribute from all callers: it is not in responses, filters or sorts. */
  readonly private: boolean
  /** `false`: requests cannot write the attribute, only code can. */
  readonly writable: boolean
  /** Each locale has its own value. Default: the setting of the content type; a uid or relation is always localized. */
  readonly localized?: boolean
}
/** Content type. */
export interface ContentTypeDeclaration {
  /** `collection` has many documents, `single` has one. */
  readonly kind: 'collection' | 'single'
  /** Plural API ID, used in paths. Default: the English plural of the key. */
  readonly pluralApiId?: string
  /** Display name. Default: the key in words. */
  readonly displayName?: string
  /** Purpose of the content type. */
  readonly description?: string
  /** Documents have a draft version and a published version. */
  readonly draftAndPublish: boolean
  /** Documents have a version for each locale. Attributes are localized unless they set `localized: false`. */
  readonly localized: boolean
  /** Base name of the tables. Default: the plural API ID in snake case. */
  readonly tableName?: string
  /** Previous key of the content type. Its tables are renamed, not dropped. */
  readonly renamedFrom?: string
  readonly attributes: AttributeDeclarations
  /** Database indexes: lists of attributes, each for one index, or `{ attributes: [title], kind: text }` (docs/storage.md). */
  readonly indexes: readonly (readonly string[] | TextIndex)[]
  readonly search: SearchDeclaration
  readonly console: ConsoleLayout
}
/** Indexes of parts of texts. */
export interface TextIndex {
  /** Text attributes, numbers and `documentId`. Each gets an index. */
  readonly attributes: readonly string[]
  /** `text`: trigrams, for `_q`, `$contains`, `$startsWith`, `$endsWith`, `$eqi` and their variants. */
  readonly kind: 'text'
}
/** Full-text search of a content type. */
export interface SearchDeclaration {
  readonly attributes: SearchedAttributes
  /** Text search configurations of PostgreSQL by locale. Default: by the language of the locale, otherwise `simple`. */
  readonly languages: {
    readonly [k: string]: string
  }
  readonly typos: TypingErrors
}
/** Weights of the searched attributes, from `A` (highest) to `D`. `a.b` is the attribute `b` of the component or dynamic zone `a`. */
export interface SearchedAttributes {
  readonly [k: string]: 'A' | 'B' | 'C' | 'D'
}
/** How the console shows a content type (docs/console.md). */
export interface ConsoleLayout {
  /** Text attribute that names a document in lists and relations. Default: `title`, `name`, `label` or `headline`, otherwise the first text attribute. */
  readonly label?: string
  /** Columns of the list: attributes, `documentId`, `createdAt`, `updatedAt` or `publishedAt`. Default: the label and a few other attributes. */
  readonly columns: readonly string[]
  /** Groups of attributes in the form, in this order. Other attributes come first. */
  readonly groups?: readonly ConsoleGroup[]
  /** Help texts of the form, by attribute. */
  readonly help: {
    readonly [k: string]: string
  }
  /** Attributes that the form does not show. */
  readonly hidden: readonly string[]
  /** Address of a page that shows the document, with `{documentId}`, `{locale}`, `{status}` and attributes in braces: `https://example.org/{locale}/{slug}`. */
  readonly preview?: string
}
/** Group of attributes in a form of the console. */
export interface ConsoleGroup {
  /** Heading of the group. */
  readonly label: string
  /** Attributes of the group, in this order. */
  readonly attributes: readonly string[]
}
/** Role. */
export interface RoleDeclaration {
  /** Display name. Default: the key, capitalised. */
  readonly name: string
  /** Purpose of the role. */
  readonly description: string
  /** Role, or list of roles, whose permissions this role inherits. */
  readonly extends: readonly string[]
  readonly permissions: Permissions
  /** Views of the console that the role may see: `model` (diagram of the content-types), `permissions` (matrix and simulator of all roles), `operations` (plugins, pending migration, slow reads, failed events). `public` has none. */
  readonly console: readonly ('model' | 'permissions' | 'operations')[]
}
/** Permissions by subject: a content type, `"*"` for all content types, or users, auth, upload, i18n or role. */
export interface Permissions {
  /** `"*"` for all actions, a list of actions, or a mapping by action. */
  readonly [k: string]: {
    /** `true` grants the action, `false` revokes an inherited permission, a mapping grants the action with conditions. */
    readonly [k: string]: boolean | PermissionOptions
  }
}
/** Conditions of a permission. */
export interface PermissionOptions {
  /** Allows only documents that match this filter, in the syntax of the REST parameter `filters`. `$user.<path>` is replaced by values of the caller. */
  readonly where?: {
    readonly [k: string]: Json
  }
  /** Allows only these attributes or, with `!` before each name, all other attributes. */
  readonly fields?: readonly string[]
  /** Values that the server writes instead of those in the request. `$user.<path>` is replaced by values of the caller. */
  readonly set?: {
    readonly [k: string]: Json
  }
}
/** Token that allows all reads or all actions. */
export interface PlainToken {
  /** `read-only` allows find and findOne of all types, including drafts; `full-access` allows all actions, `custom` allows its `permissions`. */
  readonly type: 'read-only' | 'full-access'
  /** The token itself, preferably from an environment variable. Set either `secret` or `hash`. */
  readonly secret?: string
  /** SHA-256 hash of the token: `sha256:` and 64 hexadecimal digits, as `plinth token` prints it. Set either `secret` or `hash`. */
  readonly hash?: string
  /** The token is rejected from this time on: a date, or a date and time in ISO 8601. Default: it does not expire. */
  readonly expiresAt?: string
}
/** Token with its own permissions. */
export interface CustomToken {
  /** `read-only` allows find and findOne of all types, including drafts; `full-access` allows all actions, `custom` allows its `permissions`. */
  readonly type: 'custom'
  /** The token itself, preferably from an environment variable. Set either `secret` or `hash`. */
  readonly secret?: string
  /** SHA-256 hash of the token: `sha256:` and 64 hexadecimal digits, as `plinth token` prints it. Set either `secret` or `hash`. */
  readonly hash?: string
  /** The token is rejected from this time on: a date, or a date and time in ISO 8601. Default: it does not expire. */
  readonly expiresAt?: string
  readonly permissions: Permissions
}
/** Authorization, policies and middlewares of one route or resolver. */
export interface OperationSettings {
  /** `false` allows all callers. `{ scope }` requires the listed permissions instead of the default one. */
  readonly auth?:
    | false
    | {
        /** Required permissions, such as api::article.article.find. The caller needs all of them. */
        readonly scope?: readonly string[]
      }
  /** Policies in the order in which they run. Each is a name or `{ name, config }`. */
  readonly policies: readonly PolicyUse[]
  /** Middlewares; the first one is the outermost. Each is a name or `{ name, options }`. */
  readonly middlewares: readonly MiddlewareUse[]
}
/** Policy with a configuration. */
export interface PolicyUse {
  /** Name of a plugin module: its path in its folder, without the extension. */
  readonly name: string
  /** Configuration of the policy. */
  readonly config: Json
}
/** Sign-in, registration and mails. */
export interface AuthSettings {
  /** Secret that signs the tokens of users, at least 32 characters. If it is empty, development generates one in .plinth/ and production refuses to start. */
  readonly jwtSecret: string
  /** Other secrets whose tokens are accepted, while `jwtSecret` is replaced (docs/identity.md, Rotating secrets). Empty texts are ignored. */
  readonly jwtPreviousSecrets: readonly string[]
  /** Lifetime of the tokens of users. In milliseconds. */
  readonly jwtExpiresIn: number
  /** Registration. */
  readonly register: {
    /** Allows registration. */
    readonly enabled: boolean
    /** Role of registered users. */
    readonly role: string
    /** Attributes of `user` that registration may set. */
    readonly allowedFields: readonly string[]
    /** Users must confirm their mail address before they can sign in. */
    readonly confirmEmail: boolean
  }
  /** Mails to users. An empty text counts as `null`. */
  readonly mail: {
    /** Mail server: smtp://… or smtps://…. With `null` development keeps mails in .plinth/mail, logs their paths and shows them at /_mail. */
    readonly url: string | null
    /** Sender of mails. */
    readonly from: string | null
    /** Web page that a password-reset mail links to. */
    readonly resetUrl: string | null
    /** Web page that users reach after they confirm their mail address. */
    readonly confirmUrl: string | null
  }
  /** Other servers whose JSON Web Tokens identify callers, by a name of your choice. */
  readonly issuers: {
    readonly [k: string]: Issuer
  }
  /** OpenID Connect servers at which users can sign in, by the name in the address: `/api/connect/company`. */
  readonly providers: {
    readonly [k: string]: SignInProvider
  }
  /** API keys that users create for themselves at `/api/users/me/keys`. */
  readonly keys: {
    /** Users whose role has the permission `me` of `users` may create keys. */
    readonly enabled: boolean
    /** Largest number of keys of a user. */
    readonly most: number
    /** Longest lifetime of a key, and that of a key without `expiresAt`. In milliseconds. */
    readonly lifetime: number
  }
}
/** A server whose tokens identify callers. */
export interface Issuer {
  /** Value of `iss`, exactly. Keys are found through its OpenID configuration. */
  readonly issuer: string
  /** Accepted values of `aud`: the name of this API at the issuer. A token for another audience is refused. */
  readonly audience: readonly string[]
  /** Accepted signature algorithms. */
  readonly algorithms: readonly (
    | 'RS256'
    | 'RS384'
    | 'RS512'
    | 'PS256'
    | 'PS384'
    | 'PS512'
    | 'ES256'
    | 'ES384'
    | 'ES512'
    | 'EdDSA'
    | 'Ed25519'
  )[]
  /** Address of the public keys (JWKS). Without it, it is read from the issuer's OpenID configuration. */
  readonly jwksUri?: string
  /** Accepted difference between the clocks. In milliseconds. */
  readonly clockTolerance: number
  /** Role of the callers. Without it they have the role `authenticated`. */
  readonly role: {
    /** Claim with the caller's roles, a text or a list of texts. A list is the path to a nested claim. */
    readonly claim?: readonly string[]
    /** Role by value of the claim; the first entry that matches counts. Without it, a value is the key of a role. */
    readonly map?: {
      readonly [k: string]: string
    }
    /** Role of callers whose claim names none. `null` refuses them. */
    readonly default: string | null
  }
}
/** An OpenID Connect server at which users sign in. */
export interface SignInProvider {
  /** Address of the OpenID Connect server. */
  readonly issuer: string
  /** Id of this API at the provider. */
  readonly clientId: string
  /** Secret of this API at the provider. Without it the client is public. */
  readonly clientSecret: string
  /** Requested scopes, besides `openid`. */
  readonly scopes: readonly string[]
  /** Pages of the front-end that users may return to. The first is the default; `?callback=` chooses another. */
  readonly redirectUrls: readonly string[]
  /** Claim with the username of new users. Without the claim, the part of the mail address before its @. */
  readonly username: string
  /** Accepts mail addresses that the provider does not report as verified. */
  readonly trustEmail: boolean
  /** Role of the users, set at each sign-in if `claim` is given. Without it new users have the role of registration. */
  readonly role: {
    /** Claim with the caller's roles, a text or a list of texts. A list is the path to a nested claim. */
    readonly claim?: readonly string[]
    /** Role by value of the claim; the first entry that matches counts. Without it, a value is the key of a role. */
    readonly map?: {
      readonly [k: string]: string
    }
    /** Role of callers whose claim names none. `null` refuses them. */
    readonly default: string | null
  }
}
/** Uploaded files. */
export interface UploadSettings {
  /** Storage of files: `local` is a folder, `s3` is a bucket of an S3-compatible store, other names are storages of extensions. */
  readonly provider: string
  /** Maximum size of a file. In bytes. */
  readonly sizeLimit: number
  /** Maximum number of pixels of a picture (width times height), as its header states them. */
  readonly pixelLimit: number
  /** Accepted kinds of files. */
  readonly allowedTypes: readonly MediaKind[]
  /** Options of `s3`: endpoint, region, bucket, accessKeyId, secretAccessKey, publicUrl, private, forcePathStyle; of `local`: private. A storage of an extension has its own. */
  readonly providerOptions: {
    readonly [k: string]: string | number | boolean
  }
}
