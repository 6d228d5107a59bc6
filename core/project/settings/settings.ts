export interface ServerSettings {
  readonly host: string
  readonly port: number
  readonly url: string
  readonly cors: { readonly origins: readonly string[]; readonly credentials: boolean }
  readonly bodyLimit: number
  readonly requestTimeout: number
  /** 0: never. */
  readonly stallTimeout: number
  readonly trustProxy: boolean
  readonly rateLimit: Readonly<Record<'auth' | 'account', RateLimit | false>> & {
    readonly api: ApiRateLimit | false
  }
  readonly securityHeaders: boolean
  readonly metrics: {
    readonly enabled: boolean
    readonly path: string
    readonly port: number | null
    /** On the server's own port, without authentication: `path` is set, and `port` is not. */
    readonly isPublic: boolean
  }
  readonly slowQuery: number
  readonly logLevel: 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent'
}

export interface ApiRateLimit extends RateLimit {
  /** The limit for one API token. */
  readonly tokenMax: number
  /** Whether the limit also applies to loopback and private addresses. */
  readonly privateNetworks: boolean
}

/** `window` in milliseconds. */
export interface RateLimit {
  readonly window: number
  readonly max: number
}

/**
 * The normalised project file: defaults filled in, short forms expanded, durations in milliseconds, sizes in bytes.
 * The form that users write: project.schema.json, docs/project-file.md.
 */
export interface Settings {
  readonly name: string
  readonly server: ServerSettings
  readonly database: DatabaseSettings
  readonly i18n: I18nSettings
  readonly rest: RestSettings
  readonly graphql: GraphqlSettings
  readonly cache: { readonly enabled: boolean; readonly maxBytes: number }
  readonly middlewares: readonly MiddlewareUse[]
  readonly policyTimeout: number
  readonly components: Readonly<Record<string, ComponentDeclaration>>
  readonly contentTypes: Readonly<Record<string, ContentTypeDeclaration>>
  readonly user: { readonly attributes: Readonly<Record<string, AttributeDeclaration>> }
  readonly roles: Readonly<Record<string, RoleDeclaration>>
  readonly apiTokens: Readonly<Record<string, ApiTokenDeclaration>>
  readonly routesConfig: Readonly<Record<string, OperationSettings>>
  readonly resolversConfig: Readonly<Record<string, OperationSettings>>
  readonly auth: AuthSettings
  readonly upload: UploadSettings
}

export interface DatabaseSettings {
  /** `embedded`, or a postgres:// url. A secret: never printed. */
  readonly url: string
  readonly replicas: readonly string[]
  readonly replicaLag: number
  readonly pool: { readonly max: number; readonly idle: number; readonly acquire: number }
  readonly startTimeout: number
  readonly statementTimeout: number
  /** Limits of one read; 0: unlimited. */
  readonly limits: { readonly time: number; readonly bytes: number; readonly statements: number }
  readonly preparedStatements: boolean
  /** `derived` adds indexes for expected lists; `declared` creates only the declared ones. */
  readonly indexes: 'derived' | 'declared'
  readonly schema: string
}

export interface LocaleDeclaration {
  readonly code: string
  readonly name: string
  readonly renamedFrom?: string
}

export interface I18nSettings {
  readonly locales: readonly LocaleDeclaration[]
  readonly defaultLocale: string
}

export interface RestSettings {
  readonly prefix: string
  readonly defaultLimit: number
  readonly maxLimit: number
  readonly withCount: boolean
}

export interface GraphqlSettings {
  readonly enabled: boolean
  readonly config: {
    readonly endpoint: string
    readonly shadowCRUD: boolean
    readonly playgroundAlways: boolean
    readonly depthLimit: number
    readonly amountLimit: number
    readonly defaultLimit: number
    readonly serverOptions: {
      readonly cache: 'bounded' | false
      /** Absent: enabled except in production. */
      readonly introspection?: boolean
      readonly allowBatchedHttpRequests: boolean
    }
    readonly limits: {
      readonly aliases: number
      readonly rootFields: number
      readonly tokens: number
      /** By role key; `default` is always there. */
      readonly cost: Readonly<Record<string, number>>
      readonly time: number
    }
    readonly trustedDocuments: { readonly folder: string | null; readonly only: boolean }
  }
  readonly shadowCRUD: Readonly<Record<string, ShadowCrudDeclaration>>
}

export interface ShadowCrudDeclaration {
  readonly enabled: boolean
  readonly queries: boolean
  readonly mutations: boolean
  readonly actions: Readonly<Record<string, boolean>>
  readonly fields: Readonly<
    Record<
      string,
      {
        readonly enabled: boolean
        readonly output: boolean
        readonly input: boolean
        readonly filters: boolean
      }
    >
  >
}

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }

export interface MiddlewareUse {
  readonly name: string
  readonly options: Json
}

export interface PolicyUse {
  readonly name: string
  readonly config: Json
}

export interface OperationSettings {
  /** false: open to all; a scope: all of these permissions; absent: the default. */
  readonly auth?: false | { readonly scope?: readonly string[] }
  readonly policies: readonly PolicyUse[]
  readonly middlewares: readonly MiddlewareUse[]
}

export interface ComponentDeclaration {
  readonly renamedFrom?: string
  readonly displayName?: string
  readonly description?: string
  readonly attributes: Readonly<Record<string, AttributeDeclaration>>
}

export interface ContentTypeDeclaration {
  readonly kind: 'collection' | 'single'
  /** Absent: the English plural of the key. */
  readonly pluralApiId?: string
  readonly displayName?: string
  readonly description?: string
  readonly draftAndPublish: boolean
  readonly localized: boolean
  readonly tableName?: string
  readonly renamedFrom?: string
  readonly attributes: Readonly<Record<string, AttributeDeclaration>>
  readonly indexes: readonly (readonly string[])[]
}

export const SCALAR_TYPES = [
  'string',
  'text',
  'richtext',
  'blocks',
  'enumeration',
  'email',
  'password',
  'uid',
  'date',
  'time',
  'datetime',
  'timestamp',
  'integer',
  'biginteger',
  'float',
  'decimal',
  'boolean',
  'json',
  'array',
] as const
export type ScalarType = (typeof SCALAR_TYPES)[number]

interface AttributeCommon {
  readonly renamedFrom?: string
  readonly required: boolean
  readonly private: boolean
  readonly writable: boolean
  /** Absent: the type decides. */
  readonly localized?: boolean
}

export interface ScalarDeclaration extends AttributeCommon {
  readonly type: ScalarType
  readonly unique: boolean
  readonly default?: Json
  readonly backfill?: Json
  readonly min?: number | string
  readonly max?: number | string
  readonly minLength?: number
  readonly maxLength?: number
  readonly regex?: string
  /** enumeration only */
  readonly enum?: readonly { readonly value: string; readonly renamedFrom?: string }[]
  /** Built-in attributes only. */
  readonly lowerCase?: true
  /** uid only */
  readonly targetField?: string
  readonly generate?: boolean
}

export type RelationKind = 'oneToOne' | 'oneToMany' | 'manyToOne' | 'manyToMany'

export interface RelationDeclaration extends AttributeCommon {
  readonly type: 'relation'
  readonly relation: RelationKind
  /** A content-type's key, or `user`, `file`, `role`. */
  readonly target: string
  readonly inversedBy?: string
  readonly mappedBy?: string
}

export type MediaKind = 'images' | 'videos' | 'audios' | 'files'

export interface MediaDeclaration extends AttributeCommon {
  readonly type: 'media'
  readonly multiple: boolean
  readonly allowedTypes: readonly MediaKind[]
}

export interface ComponentUse extends AttributeCommon {
  readonly type: 'component'
  readonly component: string
  readonly repeatable: boolean
  readonly min?: number
  readonly max?: number
}

export interface DynamicZoneDeclaration extends AttributeCommon {
  readonly type: 'dynamiczone'
  readonly components: readonly string[]
  readonly min?: number
  readonly max?: number
}

export type AttributeDeclaration =
  | ScalarDeclaration
  | RelationDeclaration
  | MediaDeclaration
  | ComponentUse
  | DynamicZoneDeclaration

export interface RoleDeclaration {
  readonly name: string
  readonly description: string
  readonly extends: readonly string[]
  readonly permissions: Permissions
}

/** subject → action (`*` is every action) → granted, revoked, or granted with conditions. */
export type Permissions = Readonly<Record<string, Readonly<Record<string, boolean | PermissionTerms>>>>

export interface PermissionTerms {
  /** A filter in the syntax of REST `filters`; `$user.…` strings are replaced by values of the caller. */
  readonly where?: { readonly [key: string]: Json }
  readonly fields?: readonly string[]
  readonly set?: { readonly [key: string]: Json }
}

export interface ApiTokenDeclaration {
  readonly type: 'read-only' | 'full-access' | 'custom'
  /** The token itself or its `sha256:` hash; exactly one. A secret: never printed. */
  readonly secret?: string
  readonly hash?: string
  /** ISO 8601. */
  readonly expiresAt?: string
  readonly permissions: Permissions
}

export interface AuthSettings {
  /** Empty: development generates one, production refuses to start. A secret: never printed. */
  readonly jwtSecret: string
  readonly jwtExpiresIn: number
  readonly register: {
    readonly enabled: boolean
    readonly role: string
    readonly allowedFields: readonly string[]
    readonly confirmEmail: boolean
  }
  readonly mail: {
    readonly url: string | null
    readonly from: string | null
    readonly resetUrl: string | null
    readonly confirmUrl: string | null
  }
}

export interface UploadSettings {
  readonly provider: 'local' | 's3'
  readonly sizeLimit: number
  /** Pixels per picture. */
  readonly pixelLimit: number
  readonly allowedTypes: readonly MediaKind[]
  readonly providerOptions: Readonly<Record<string, string | number | boolean>>
}
