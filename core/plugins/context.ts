import type { IncomingHttpHeaders } from 'node:http'
import type { ProjectModels } from '../database/open-models.ts'
import type { Model } from '../model/model.ts'
import type { Models } from './registry.ts'
import type { RequestState } from './request-state.ts'
import type { DocumentsApi } from './services/documents-api.ts'
import type { PluginMail } from './services/mail-api.ts'
import type { PluginMedia } from './services/media-api.ts'

/** The context of a request for policies and route middlewares. `kind` distinguishes REST and GraphQL. */
export type PolicyContext = RestContext | GraphqlContext

interface ContextBase {
  readonly app: PluginApp
  readonly http: HttpContext
  readonly state: RequestState
  is(kind: PolicyContext['kind']): boolean
}

/** One request of a REST route. */
export interface RestContext extends ContextBase {
  readonly kind: 'rest'
  readonly parent: null
  /** Parsed parameters of the query string and of the route's path (`documentId`). */
  readonly args: Readonly<Record<string, unknown>>
  /**
   * Parameters of the query string, as in Strapi's `ctx.query`. Changes made before the route runs take effect; they are
   * checked like the client's own parameters, with the caller's permissions.
   */
  query: RestQuery
  /** This context itself. */
  readonly context: RestContext
  readonly info: RouteInfo
}

/** A client sends texts, lists and objects of them. Code may also write numbers, booleans and `Date`s. */
export interface RestQuery {
  populate?: unknown
  filters?: unknown
  sort?: unknown
  fields?: unknown
  pagination?: unknown
  status?: unknown
  locale?: unknown
  [name: string]: unknown
}

/** Identifies a route. */
export interface RouteInfo {
  /** Name in routesConfig (`article.find`); for an extension's route `GET /restaurants/nearest`. */
  readonly route: string
  /** `api::article.article`; null for routes without a content-type. */
  readonly type: string | null
  readonly action: string
}

/** One field of a GraphQL operation. */
export interface GraphqlContext extends ContextBase {
  readonly kind: 'graphql'
  readonly parent: unknown
  readonly args: Readonly<Record<string, unknown>>
  readonly context: ResolverContext
  readonly info: ResolverInfo
}

/** Shared by all resolvers and middlewares of one request. */
export interface ResolverContext {
  readonly app: PluginApp
  readonly http: HttpContext
  readonly state: RequestState
}

/** The part of graphql-js's GraphQLResolveInfo that policies use. */
export interface ResolverInfo {
  readonly fieldName: string
  readonly parentType: { readonly name: string }
  readonly [key: string]: unknown
}

export interface HttpContext {
  readonly request: PluginRequest
  readonly response: PluginResponse
}

export interface PluginRequest {
  /** Request id, as in logs and in the X-Request-Id header of the response. */
  readonly id: string
  readonly method: string
  /** The raw path: not decoded, without the query string. */
  readonly path: string
  /** Query string without the question mark. Assigning changes what the route reads. */
  search: string
  /** Names are lower-case. */
  readonly headers: IncomingHttpHeaders
  /** Network address of the client. */
  readonly peer: string
  /** The whole body. The route can still read it. Throws a contract error if the body is too long. */
  body(): Promise<Buffer>
  /** The body parsed as JSON. Throws a ValidationError for invalid JSON. */
  json(): Promise<unknown>
}

export interface PluginResponse {
  /** 0 until a response is set. */
  status: number
  /** Body of the response; null: none, or no response yet. */
  readonly body: string | Buffer | null
  /** The body parsed as JSON; undefined if it is not JSON. */
  json(): unknown
  /** Sets the response, replacing an earlier one: as JSON, or with `type` a text or bytes as given. */
  send(value: unknown, options?: SendOptions): void
  /** Sets a header on the final response. */
  setHeader(name: string, value: string): void
}

export interface SendOptions {
  /** Default: 200. */
  readonly status?: number
  /** Media type; default: JSON. */
  readonly type?: string
}

/** The server as plugins see it. */
export interface PluginApp {
  /** `name` of project.yaml. */
  readonly name: string
  /** The compiled project. Frozen. */
  readonly model: Model
  /** The document service. Available from `bootstrap` on: before, there is no database. */
  readonly documents: DocumentsApi
  /** Sends mails by `auth.mail` of project.yaml. */
  readonly mail: PluginMail
  /** Uploaded files. Available from `bootstrap` on. */
  readonly media: PluginMedia
  /** Sequelize over the project's tables, loaded at the first use. It knows no permissions. Available from `bootstrap` on. */
  readonly sequelize: ProjectModels['sequelize']
  /** Sequelize models, by key of the content-type (`article`) or uid of the component (`shared.seo`). Available from `bootstrap` on. */
  readonly models: Models
  /**
   * One transaction for documents, models and SQL: commits when `work` resolves, rolls back when it rejects. Inside of another
   * one it is a savepoint. Available from `bootstrap` on.
   */
  readonly transaction: ProjectModels['transaction']
  readonly log: PluginLog
}

/** Values of one log line, for a collector of logs. They are keys of the line; a name that it already has gets a `_`. */
export type LogFields = Readonly<Record<string, unknown>>

/** Writes to the server's log; secrets of the project are redacted. */
export interface PluginLog {
  info(message: string): void
  info(fields: LogFields, message: string): void
  warn(message: string): void
  warn(fields: LogFields, message: string): void
  error(message: string, error?: unknown): void
  error(fields: LogFields, message: string, error?: unknown): void
}
