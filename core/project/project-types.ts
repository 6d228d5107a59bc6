// Made from project.schema.json by `npm run generate`: change that file, not this one.

/**
 * A number and b, kb, mb or gb, 1024-based.
 */
export type SizeText = string
/**
 * Bytes.
 */
export type Bytes = number
/**
 * A number and ms, s, m, h or d.
 */
export type DurationText = string
/**
 * Milliseconds.
 */
export type Milliseconds = number
/**
 * Nothing of it.
 */
export type Off = false
/**
 * A language, perhaps with script and region: `fr`, `fr-FR`, `zh-Hans`.
 */
export type LocaleCode = string
/**
 * The name of a module: its path in its folder, without the ending.
 */
export type Name = string
/**
 * An attribute; `excerpt: text` is short for `excerpt: { type: text }`.
 */
export type Attribute =
  | ShortAttribute
  | StringAttribute
  | RichtextAttribute
  | PasswordAttribute
  | UidAttribute
  | EnumerationAttribute
  | DateAttribute
  | TimeAttribute
  | DatetimeAttribute
  | IntegerAttribute
  | BigintegerAttribute
  | NumberAttribute
  | BooleanAttribute
  | JsonAttribute
  | ListAttribute
  | RelationAttribute
  | MediaAttribute
  | ComponentAttribute
  | DynamiczoneAttribute
/**
 * A type that needs nothing else.
 */
export type ShortAttribute =
  | 'string'
  | 'text'
  | 'richtext'
  | 'blocks'
  | 'email'
  | 'password'
  | 'uid'
  | 'date'
  | 'time'
  | 'datetime'
  | 'timestamp'
  | 'integer'
  | 'biginteger'
  | 'float'
  | 'decimal'
  | 'boolean'
  | 'json'
  | 'array'
  | 'media'
/**
 * The least number of characters.
 */
export type MinLength = number
/**
 * The greatest number of characters.
 */
export type MaxLength = number
/**
 * A regular expression of JavaScript that values match.
 */
export type Regex = string
/**
 * No two published documents of a locale have the same value.
 */
export type Unique = boolean
/**
 * The attribute was called so before: its column is renamed, not dropped.
 */
export type AttributeRenamedFrom = string
/**
 * A document without it is refused; drafts may lack it.
 */
export type Required = boolean
/**
 * Never leaves, never filters, never sorts, for any caller.
 */
export type Private = boolean
/**
 * false: only the document service writes it.
 */
export type Writable = boolean
/**
 * Each locale has its own value. By default as the content-type; a uid or a relation is always localized.
 */
export type Localized = boolean
/**
 * The kinds of files that may be chosen.
 *
 * @minItems 1
 */
export type AllowedTypes = ('images' | 'videos' | 'audios' | 'files')[]
/**
 * The least number of components.
 */
export type MinItems = number
/**
 * The greatest number of components.
 */
export type MaxItems = number
/**
 * `"*"` for every action, a list of actions, or a mapping by action.
 */
export type SubjectPermissions =
  | '*'
  | string[]
  | {
      [k: string]: Permission
    }
/**
 * true grants, false takes an inherited one away, a mapping grants in part.
 */
export type Permission = boolean | PermissionTerms
/**
 * A token.
 */
export type ApiToken = PlainToken | CustomToken

/**
 * The project file of Plinth (project.yaml): one content API, declared.
 */
export interface ProjectFile {
  /**
   * What the project is called.
   */
  name: string
  /**
   * Files of the same grammar that are merged into this one: paths from this file’s own folder; `*`, `?` and `**` stand for any part, any letter, any folders. A name may be defined in one file only.
   */
  include?: string[]
  /**
   * How the server listens and what it lets through.
   */
  server?: {
    /**
     * The address to listen on.
     */
    host?: string
    /**
     * The port to listen on; 0 takes any free one.
     */
    port?: number
    /**
     * The address that callers use; makes absolute links.
     */
    url?: string
    /**
     * Which web pages may call the API from a browser.
     */
    cors?: {
      /**
       * Origins such as https://example.org, or `*` for all.
       */
      origins?: string[]
      /**
       * Lets browsers send cookies and credentials; not with the origin `*`.
       */
      credentials?: boolean
    }
    /**
     * The largest body of a request, uploads aside.
     */
    bodyLimit?: SizeText | Bytes
    /**
     * A request that takes longer is ended.
     */
    requestTimeout?: DurationText | Milliseconds
    /**
     * With several workers: one whose event loop stands still for so long (an endless loop in code) is killed and replaced; 0 never does.
     */
    stallTimeout?: DurationText | Milliseconds
    /**
     * Takes the caller’s address from the X-Forwarded-For of the nearest proxy.
     */
    trustProxy?: boolean
    /**
     * How many requests a caller may make.
     */
    rateLimit?: {
      /**
       * All of the API, counted per process: by network address, or by user or API token (docs/fairness.md); false is no limit.
       */
      api?: Off | ApiRateLimit
      /**
       * Sign-in, registration and mails, counted in the database; false is no limit.
       */
      auth?: Off | RateLimit
      /**
       * Failed sign-ins of one user, from all addresses together; what a mapping leaves out is as here. Networks that signed in before stay let in. False is no limit.
       */
      account?: Off | RateLimit
    }
    /**
     * Sends headers that make browsers careful.
     */
    securityHeaders?: boolean
    /**
     * Numbers for Prometheus.
     */
    metrics?: {
      /**
       * Serves them.
       */
      enabled?: boolean
      /**
       * Where. Without `port` it has to be said, for then everybody can read them on the server’s.
       */
      path?: string
      /**
       * A port of their own, with nothing else on it; null: at `path` of the server’s.
       */
      port?: number | null
    }
    /**
     * A statement or a transaction that takes longer is logged with what it asks for, without values; 0: none is.
     */
    slowQuery?: DurationText | Milliseconds
    /**
     * The least level that is logged.
     */
    logLevel?: 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent'
  }
  /**
   * The PostgreSQL that holds everything.
   */
  database?: {
    /**
     * `embedded` (a PostgreSQL in the process, files under .plinth/), or postgres://…
     */
    url?: string
    /**
     * Addresses of streaming replicas of `url`, which answer reads in its place (docs/scale.md). An empty text is none.
     */
    replicas?: string[]
    /**
     * A replica that is further behind answers nothing until it has caught up.
     */
    replicaLag?: DurationText | Milliseconds
    /**
     * Connections of one process.
     */
    pool?: {
      /**
       * The most that are open.
       */
      max?: number
      /**
       * An unused one is closed after this.
       */
      idle?: DurationText | Milliseconds
      /**
       * A request that waits longer for one fails with 503.
       */
      acquire?: DurationText | Milliseconds
    }
    /**
     * A start waits so long for a database that cannot be reached, or takes no writes; 0 fails at once. A wrong password or a missing database fails at once in any case.
     */
    startTimeout?: DurationText | Milliseconds
    /**
     * PostgreSQL ends a statement that takes longer.
     */
    statementTimeout?: DurationText | Milliseconds
    /**
     * What one request may take of the database (docs/fairness.md).
     */
    limits?: {
      /**
       * Statements, and transactions, that one request may have running at the same time.
       */
      statements?: number
      /**
       * A read that takes longer is ended; 0 leaves it to statementTimeout.
       */
      time?: DurationText | Milliseconds
      /**
       * The largest answer of one read; it is ended at the first byte more, with 400. 0 is no limit.
       */
      bytes?: SizeText | Bytes
    }
    /**
     * false behind a pooler in transaction mode that does not keep them (docs/scale.md).
     */
    preparedStatements?: boolean
    /**
     * derived: beside those that content-types declare, what conditions of roles and tokens and lists by `createdAt` and `publishedAt` are found by; declared: no others than `indexes` of content-types, and what values that are unique and links need (docs/storage.md).
     */
    indexes?: 'derived' | 'declared'
    /**
     * The schema that the tables stand in.
     */
    schema?: string
  }
  /**
   * The languages of localized content-types.
   */
  i18n?: {
    /**
     * Codes such as `fr` or `fr-FR`, or mappings.
     *
     * @minItems 1
     */
    locales?: (LocaleCode | Locale)[]
    /**
     * The locale of a request that names none; one of `locales`.
     */
    defaultLocale?: string
  }
  /**
   * The REST API.
   */
  rest?: {
    /**
     * The path that all routes begin with.
     */
    prefix?: string
    /**
     * Documents of a list that asks for no number.
     */
    defaultLimit?: number
    /**
     * The most documents of a list; more are cut to it.
     */
    maxLimit?: number
    /**
     * Counts the total of a list unless the request says otherwise.
     */
    withCount?: boolean
  }
  /**
   * The GraphQL API.
   */
  graphql?: {
    /**
     * Serves it.
     */
    enabled?: boolean
    /**
     * The options of the GraphQL server.
     */
    config?: {
      /**
       * Its path.
       */
      endpoint?: string
      /**
       * Makes the schema from the content-types; false leaves what extensions bring.
       */
      shadowCRUD?: boolean
      /**
       * Serves the playground in production, too.
       */
      playgroundAlways?: boolean
      /**
       * How deep a request may nest.
       */
      depthLimit?: number
      /**
       * The most documents of each list; more are cut to it.
       */
      amountLimit?: number
      /**
       * Documents of a list that asks for no number.
       */
      defaultLimit?: number
      /**
       * Options of the GraphQL server itself, called as in Apollo Server.
       */
      serverOptions?: {
        /**
         * Accepted as Strapi writes it, and always false: Apollo's tracing extension is not supported.
         */
        tracing?: false
        /**
         * `bounded` keeps parsed documents up to some megabytes, false none.
         */
        cache?: 'bounded' | false
        /**
         * Whether the schema may be asked for; where it is left out, only outside of production.
         */
        introspection?: boolean
        /**
         * Whether one request may bring several operations.
         */
        allowBatchedHttpRequests?: boolean
        /**
         * Requests that a page of another site could send without asking are refused, always.
         */
        csrfPrevention?: true
        /**
         * Answers never have stack traces; the log has them, with the request id.
         */
        includeStacktraceInErrorResponses?: false
      }
      /**
       * What one request may ask for.
       */
      limits?: {
        /**
         * Aliases.
         */
        aliases?: number
        /**
         * Fields of Query or Mutation.
         */
        rootFields?: number
        /**
         * Words and signs of the document.
         */
        tokens?: number
        /**
         * The dearest request, in documents it may answer with; a number, or one by role, where `default` is for the others.
         */
        cost?: number | CostByRole
        /**
         * How long it may take.
         */
        time?: DurationText | Milliseconds
      }
      /**
       * Requests known beforehand.
       */
      trustedDocuments?: {
        /**
         * The folder of .graphql files, from that of project.yaml.
         */
        folder?: string | null
        /**
         * Refuses every other request.
         */
        only?: boolean
      }
    }
    /**
     * What the generated schema leaves out, by content-type; what the extension service does in code, declared.
     */
    shadowCRUD?: {
      [k: string]: ShadowCrud
    }
  }
  /**
   * The cache of answers; it is never stale.
   */
  cache?: {
    /**
     * Keeps answers.
     */
    enabled?: boolean
    /**
     * The most that one process keeps; 0 keeps nothing.
     */
    maxBytes?: SizeText | Bytes
  }
  /**
   * Express middlewares before every request, in order: a name, or { name, options }.
   */
  middlewares?: (Name | MiddlewareUse)[]
  /**
   * A policy that takes longer refuses.
   */
  policyTimeout?: DurationText | Milliseconds
  /**
   * Groups of attributes that content-types use, by `category.name`.
   */
  components?: {
    [k: string]: Component
  }
  /**
   * The content-types, by singular API ID.
   */
  contentTypes?: {
    [k: string]: ContentType
  }
  /**
   * The built-in user.
   */
  user?: {
    attributes?: Attributes
  }
  /**
   * Who may do what. `public` is every request without a token, `authenticated` a signed-in user without another role.
   */
  roles?: {
    [k: string]: Role
  }
  /**
   * Tokens for programs, by name.
   */
  apiTokens?: {
    [k: string]: ApiToken
  }
  /**
   * REST: what guards a route, by `<type>.<action>`.
   */
  routesConfig?: {
    [k: string]: Operation
  }
  /**
   * GraphQL: what guards a resolver, by `<Type>.<field>`.
   */
  resolversConfig?: {
    [k: string]: Operation
  }
  /**
   * Sign-in.
   */
  auth?: {
    /**
     * Signs the tokens of users; at least 32 characters. Left empty, development makes one and keeps it under .plinth/, and production refuses to start.
     */
    jwtSecret?: string
    /**
     * How long such a token is good.
     */
    jwtExpiresIn?: DurationText | Milliseconds
    /**
     * Registration.
     */
    register?: {
      /**
       * Lets people register.
       */
      enabled?: boolean
      /**
       * The role of somebody who registers.
       */
      role?: string
      /**
       * The attributes of `user` that registration may set.
       */
      allowedFields?: string[]
      /**
       * Sign-in waits for the mail address to be confirmed.
       */
      confirmEmail?: boolean
    }
    /**
     * Mails to users.
     */
    mail?: {
      /**
       * smtp://… or smtps://…; null writes mails to .plinth/mail in development, and tells the log where.
       */
      url?: string | null
      /**
       * The sender.
       */
      from?: string | null
      /**
       * The page that a mail about a forgotten password leads to.
       */
      resetUrl?: string | null
      /**
       * The page that a confirmed mail address leads to.
       */
      confirmUrl?: string | null
    }
  }
  /**
   * Uploaded files.
   */
  upload?: {
    /**
     * Where they are kept: in a folder, or in a bucket of an S3 store.
     */
    provider?: 'local' | 's3'
    /**
     * The largest file.
     */
    sizeLimit?: SizeText | Bytes
    /**
     * The most pixels of a picture, by what its header says: width times height.
     */
    pixelLimit?: number
    allowedTypes?: AllowedTypes
    /**
     * For s3: endpoint, region, bucket, accessKeyId, secretAccessKey, publicUrl.
     */
    providerOptions?: {
      [k: string]: string | number | boolean
    }
  }
}
/**
 * So many requests in so long a time.
 */
export interface ApiRateLimit {
  /**
   * The time; a bare number is seconds.
   */
  window?: DurationText | number
  /**
   * The requests of one address or one user.
   */
  max?: number
  /**
   * The requests of one API token; as `max` where it is left out.
   */
  tokenMax?: number
  /**
   * Whether loopback and private addresses are counted, too: a proxy without trustProxy would be one address for all its clients.
   */
  privateNetworks?: boolean
}
/**
 * So many requests in so long a time.
 */
export interface RateLimit {
  /**
   * The time; a bare number is seconds.
   */
  window?: DurationText | number
  /**
   * The requests.
   */
  max?: number
}
/**
 * A locale with a name of its own.
 */
export interface Locale {
  code: LocaleCode
  /**
   * How it is shown. By default the language’s English name with the code in brackets.
   */
  name?: string
  /**
   * The code that it had before: its documents are kept.
   */
  renamedFrom?: string
}
/**
 * The dearest request by role; `default` is for the others.
 */
export interface CostByRole {
  [k: string]: number
}
/**
 * What is generated for one content-type.
 */
export interface ShadowCrud {
  /**
   * Generates anything at all.
   */
  enabled?: boolean
  /**
   * Generates queries.
   */
  queries?: boolean
  /**
   * Generates mutations.
   */
  mutations?: boolean
  /**
   * Single actions.
   */
  actions?: {
    /**
     * Lists documents.
     */
    find?: boolean
    /**
     * Reads one document.
     */
    findOne?: boolean
    /**
     * Creates.
     */
    create?: boolean
    /**
     * Updates.
     */
    update?: boolean
    /**
     * Deletes.
     */
    delete?: boolean
  }
  /**
   * Single attributes.
   */
  fields?: {
    /**
     * One attribute.
     */
    [k: string]: {
      /**
       * Shows it at all.
       */
      enabled?: boolean
      /**
       * Shows it in answers.
       */
      output?: boolean
      /**
       * Takes it in mutations.
       */
      input?: boolean
      /**
       * Filters by it.
       */
      filters?: boolean
    }
  }
}
/**
 * A middleware with options.
 */
export interface MiddlewareUse {
  name: Name
  /**
   * Whatever the middleware takes.
   */
  options?: {
    [k: string]: unknown
  }
}
/**
 * A component.
 */
export interface Component {
  /**
   * The component was called so before: its tables are renamed, not dropped.
   */
  renamedFrom?: string
  /**
   * How it is shown.
   */
  displayName?: string
  /**
   * What it is for.
   */
  description?: string
  attributes?: Attributes
}
/**
 * The attributes, by name: a type alone, or a mapping.
 */
export interface Attributes {
  [k: string]: Attribute
}
/**
 * One line (string), more lines (text), or a mail address (email).
 */
export interface StringAttribute {
  /**
   * What the attribute holds.
   */
  type: 'string' | 'text' | 'email'
  minLength?: MinLength
  maxLength?: MaxLength
  regex?: Regex
  unique?: Unique
  /**
   * The value of a new document that does not say one; null does not count as left out.
   */
  default?: string
  /**
   * The value that documents get which stood in the database before the attribute did.
   */
  backfill?: string
  renamedFrom?: AttributeRenamedFrom
  required?: Required
  private?: Private
  writable?: Writable
  localized?: Localized
}
/**
 * Markdown or HTML.
 */
export interface RichtextAttribute {
  /**
   * What the attribute holds.
   */
  type: 'richtext'
  minLength?: MinLength
  maxLength?: MaxLength
  regex?: Regex
  /**
   * The value of a new document that does not say one; null does not count as left out.
   */
  default?: string
  /**
   * The value that documents get which stood in the database before the attribute did.
   */
  backfill?: string
  renamedFrom?: AttributeRenamedFrom
  required?: Required
  private?: Private
  writable?: Writable
  localized?: Localized
}
/**
 * Stored as a hash; never leaves.
 */
export interface PasswordAttribute {
  /**
   * What the attribute holds.
   */
  type: 'password'
  minLength?: MinLength
  maxLength?: MaxLength
  regex?: Regex
  renamedFrom?: AttributeRenamedFrom
  required?: Required
  private?: Private
  writable?: Writable
  localized?: Localized
}
/**
 * A text for URLs, unique in its content-type.
 */
export interface UidAttribute {
  /**
   * What the attribute holds.
   */
  type: 'uid'
  /**
   * The attribute that the uid is made from.
   */
  targetField?: string
  /**
   * Makes the uid from `targetField` when a write leaves it out.
   */
  generate?: boolean
  minLength?: MinLength
  maxLength?: MaxLength
  regex?: Regex
  /**
   * The value of a new document that does not say one; null does not count as left out.
   */
  default?: string
  /**
   * The value that documents get which stood in the database before the attribute did.
   */
  backfill?: string
  renamedFrom?: AttributeRenamedFrom
  required?: Required
  private?: Private
  writable?: Writable
  localized?: Localized
}
/**
 * One of the listed words.
 */
export interface EnumerationAttribute {
  /**
   * What the attribute holds.
   */
  type: 'enumeration'
  /**
   * The words, in order.
   *
   * @minItems 1
   */
  enum: (string | EnumValue)[]
  unique?: Unique
  /**
   * The value of a new document that does not say one; null does not count as left out.
   */
  default?: string
  /**
   * The value that documents get which stood in the database before the attribute did.
   */
  backfill?: string
  renamedFrom?: AttributeRenamedFrom
  required?: Required
  private?: Private
  writable?: Writable
  localized?: Localized
}
/**
 * A word that was called otherwise before.
 */
export interface EnumValue {
  /**
   * The word.
   */
  value: string
  /**
   * What it was called: documents that hold the old word are changed.
   */
  renamedFrom?: string
}
/**
 * A day.
 */
export interface DateAttribute {
  /**
   * What the attribute holds.
   */
  type: 'date'
  unique?: Unique
  /**
   * The value of a new document that does not say one; null does not count as left out.
   */
  default?: string
  /**
   * The value that documents get which stood in the database before the attribute did.
   */
  backfill?: string
  renamedFrom?: AttributeRenamedFrom
  required?: Required
  private?: Private
  writable?: Writable
  localized?: Localized
}
/**
 * A time of day.
 */
export interface TimeAttribute {
  /**
   * What the attribute holds.
   */
  type: 'time'
  unique?: Unique
  /**
   * The value of a new document that does not say one; null does not count as left out.
   */
  default?: string
  /**
   * The value that documents get which stood in the database before the attribute did.
   */
  backfill?: string
  renamedFrom?: AttributeRenamedFrom
  required?: Required
  private?: Private
  writable?: Writable
  localized?: Localized
}
/**
 * A moment; a timestamp is answered as milliseconds.
 */
export interface DatetimeAttribute {
  /**
   * What the attribute holds.
   */
  type: 'datetime' | 'timestamp'
  unique?: Unique
  /**
   * The value of a new document that does not say one; null does not count as left out.
   */
  default?: string
  /**
   * The value that documents get which stood in the database before the attribute did.
   */
  backfill?: string
  renamedFrom?: AttributeRenamedFrom
  required?: Required
  private?: Private
  writable?: Writable
  localized?: Localized
}
/**
 * A whole number.
 */
export interface IntegerAttribute {
  /**
   * What the attribute holds.
   */
  type: 'integer'
  /**
   * The least value.
   */
  min?: number
  /**
   * The greatest value.
   */
  max?: number
  unique?: Unique
  /**
   * The value of a new document that does not say one; null does not count as left out.
   */
  default?: number
  /**
   * The value that documents get which stood in the database before the attribute did.
   */
  backfill?: number
  renamedFrom?: AttributeRenamedFrom
  required?: Required
  private?: Private
  writable?: Writable
  localized?: Localized
}
/**
 * A whole number of up to 19 digits, answered as text.
 */
export interface BigintegerAttribute {
  /**
   * What the attribute holds.
   */
  type: 'biginteger'
  /**
   * The least value.
   */
  min?: number | string
  /**
   * The greatest value.
   */
  max?: number | string
  unique?: Unique
  /**
   * The value of a new document that does not say one; null does not count as left out.
   */
  default?: number | string
  /**
   * The value that documents get which stood in the database before the attribute did.
   */
  backfill?: number | string
  renamedFrom?: AttributeRenamedFrom
  required?: Required
  private?: Private
  writable?: Writable
  localized?: Localized
}
/**
 * A number with a fraction (float), or one with two decimals (decimal).
 */
export interface NumberAttribute {
  /**
   * What the attribute holds.
   */
  type: 'float' | 'decimal'
  /**
   * The least value.
   */
  min?: number
  /**
   * The greatest value.
   */
  max?: number
  unique?: Unique
  /**
   * The value of a new document that does not say one; null does not count as left out.
   */
  default?: number
  /**
   * The value that documents get which stood in the database before the attribute did.
   */
  backfill?: number
  renamedFrom?: AttributeRenamedFrom
  required?: Required
  private?: Private
  writable?: Writable
  localized?: Localized
}
/**
 * True or false.
 */
export interface BooleanAttribute {
  /**
   * What the attribute holds.
   */
  type: 'boolean'
  /**
   * The value of a new document that does not say one; null does not count as left out.
   */
  default?: boolean
  /**
   * The value that documents get which stood in the database before the attribute did.
   */
  backfill?: boolean
  renamedFrom?: AttributeRenamedFrom
  required?: Required
  private?: Private
  writable?: Writable
  localized?: Localized
}
/**
 * Any JSON.
 */
export interface JsonAttribute {
  /**
   * What the attribute holds.
   */
  type: 'json'
  /**
   * The value of a new document that does not say one; null does not count as left out.
   */
  default?: {
    [k: string]: unknown
  }
  /**
   * The value that documents get which stood in the database before the attribute did.
   */
  backfill?: {
    [k: string]: unknown
  }
  renamedFrom?: AttributeRenamedFrom
  required?: Required
  private?: Private
  writable?: Writable
  localized?: Localized
}
/**
 * A JSON list (array), or a rich text as a list of blocks (blocks).
 */
export interface ListAttribute {
  /**
   * What the attribute holds.
   */
  type: 'array' | 'blocks'
  /**
   * The value of a new document that does not say one; null does not count as left out.
   */
  default?: unknown[]
  /**
   * The value that documents get which stood in the database before the attribute did.
   */
  backfill?: unknown[]
  renamedFrom?: AttributeRenamedFrom
  required?: Required
  private?: Private
  writable?: Writable
  localized?: Localized
}
/**
 * Leads to documents of a content-type.
 */
export interface RelationAttribute {
  /**
   * What the attribute holds.
   */
  type: 'relation'
  /**
   * How many on either side: the first word counts documents of this content-type for one target, the second targets for one document.
   */
  relation: 'oneToOne' | 'oneToMany' | 'manyToOne' | 'manyToMany'
  /**
   * The key of a content-type, or `user`, `file` or `role`.
   */
  target: string
  /**
   * The attribute of the target that shows the other side; this side stores the link.
   */
  inversedBy?: string
  /**
   * The attribute of the target that stores the link; this side is read backwards from it.
   */
  mappedBy?: string
  renamedFrom?: AttributeRenamedFrom
  required?: Required
  private?: Private
  writable?: Writable
  localized?: Localized
}
/**
 * Uploaded files.
 */
export interface MediaAttribute {
  /**
   * What the attribute holds.
   */
  type: 'media'
  /**
   * Holds a list of files.
   */
  multiple?: boolean
  allowedTypes?: AllowedTypes
  renamedFrom?: AttributeRenamedFrom
  required?: Required
  private?: Private
  writable?: Writable
  localized?: Localized
}
/**
 * A component, or a list of one kind of component.
 */
export interface ComponentAttribute {
  /**
   * What the attribute holds.
   */
  type: 'component'
  /**
   * The component, as `category.name`.
   */
  component: string
  /**
   * Holds a list.
   */
  repeatable?: boolean
  min?: MinItems
  max?: MaxItems
  renamedFrom?: AttributeRenamedFrom
  required?: Required
  private?: Private
  writable?: Writable
  localized?: Localized
}
/**
 * A list of components of several kinds.
 */
export interface DynamiczoneAttribute {
  /**
   * What the attribute holds.
   */
  type: 'dynamiczone'
  /**
   * The components that may stand in it.
   *
   * @minItems 1
   */
  components: string[]
  min?: MinItems
  max?: MaxItems
  renamedFrom?: AttributeRenamedFrom
  required?: Required
  private?: Private
  writable?: Writable
  localized?: Localized
}
/**
 * A content-type.
 */
export interface ContentType {
  /**
   * Many documents, or a single one.
   */
  kind?: 'collection' | 'single'
  /**
   * The plural, for paths. By default the English plural of the key.
   */
  pluralApiId?: string
  /**
   * How it is shown.
   */
  displayName?: string
  /**
   * What it is for.
   */
  description?: string
  /**
   * Documents have a draft and a published version.
   */
  draftAndPublish?: boolean
  /**
   * Documents have a version for each locale; attributes are then localized unless they say `localized: false`.
   */
  localized?: boolean
  /**
   * The name that its tables are derived from. By default made from the plural.
   */
  tableName?: string
  /**
   * The content-type was called so before: its tables are renamed, not dropped.
   */
  renamedFrom?: string
  attributes?: Attributes
  /**
   * Indexes over several attributes.
   */
  indexes?: string[][]
}
/**
 * A role.
 */
export interface Role {
  /**
   * How it is shown. By default the key, capitalised.
   */
  name?: string
  /**
   * What it is for.
   */
  description?: string
  /**
   * A role, or a list of roles, whose permissions it begins with.
   */
  extends?: string | string[]
  permissions?: Permissions
}
/**
 * By subject: a content-type, `"*"` for every content-type, users, auth, upload, i18n or role.
 */
export interface Permissions {
  [k: string]: SubjectPermissions
}
/**
 * A permission in part.
 */
export interface PermissionTerms {
  /**
   * Only documents that match: a filter in the language of the REST parameter `filters`; `$user.<path>` stands for the caller’s values.
   */
  where?: {
    [k: string]: unknown
  }
  /**
   * Only these attributes; or, with `!` before each, all but these.
   *
   * @minItems 1
   */
  fields?: string[]
  /**
   * Values that the server writes, whatever the body says; `$user.<path>` stands for the caller’s values.
   */
  set?: {
    [k: string]: unknown
  }
}
/**
 * A token that reads, or does, everything.
 */
export interface PlainToken {
  /**
   * read-only: every find and findOne; full-access: everything; custom: its `permissions`.
   */
  type: 'read-only' | 'full-access'
  /**
   * The token itself, best from the environment. Exactly one of `secret` and `hash`.
   */
  secret?: string
  /**
   * The token’s SHA-256, as `sha256:` and 64 hexadecimal digits (`plinth token` prints it). Exactly one of `secret` and `hash`.
   */
  hash?: string
  /**
   * From this moment on the token is refused; a day or a moment in ISO 8601. Never by default.
   */
  expiresAt?: string
}
/**
 * A token with permissions of its own.
 */
export interface CustomToken {
  /**
   * read-only: every find and findOne; full-access: everything; custom: its `permissions`.
   */
  type: 'custom'
  /**
   * The token itself, best from the environment. Exactly one of `secret` and `hash`.
   */
  secret?: string
  /**
   * The token’s SHA-256, as `sha256:` and 64 hexadecimal digits (`plinth token` prints it). Exactly one of `secret` and `hash`.
   */
  hash?: string
  /**
   * From this moment on the token is refused; a day or a moment in ISO 8601. Never by default.
   */
  expiresAt?: string
  permissions: Permissions
}
/**
 * What guards one route or resolver.
 */
export interface Operation {
  /**
   * false opens it to everybody; { scope } asks for these permissions instead of its own.
   */
  auth?:
    | Off
    | {
        /**
         * Permissions such as api::article.article.find; all of them.
         */
        scope?: string[]
      }
  /**
   * Policies, in order: a name, or { name, config }.
   */
  policies?: (Name | PolicyUse)[]
  /**
   * Middlewares, the first outermost: a name, or { name, options }.
   */
  middlewares?: (Name | MiddlewareUse)[]
}
/**
 * A policy with its configuration.
 */
export interface PolicyUse {
  name: Name
  /**
   * Whatever the policy takes.
   */
  config?: {
    [k: string]: unknown
  }
}
