import type { IncomingHttpHeaders } from 'node:http'
import type { Ability } from './ability.ts'
import type { PluginApp } from './services/plugin-app.ts'

/** What policies get to see of a request, and middlewares of a route's. `kind` tells the two sides apart. */
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
  /** The query string's parameters, parsed, and the names in the route's path (`documentId`). */
  readonly args: Readonly<Record<string, unknown>>
  /** This context itself. */
  readonly context: RestContext
  readonly info: RouteInfo
}

/** Which route it is. */
export interface RouteInfo {
  /** As routesConfig calls it: `article.find`; an extension's: `GET /restaurants/nearest`. */
  readonly route: string
  /** `api::article.article`; null where the route is none of a content-type's. */
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

/** What all resolvers and middlewares of one request share. */
export interface ResolverContext {
  readonly app: PluginApp
  readonly http: HttpContext
  readonly state: RequestState
}

/** The part of graphql-js's GraphQLResolveInfo that policies have a use for. */
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
  /** What logs and the answer's X-Request-Id say. */
  readonly id: string
  readonly method: string
  /** As it was sent: not decoded, without the query string. */
  readonly path: string
  /** The query string without its question mark. What stands here when the route's turn comes is what it reads. */
  search: string
  /** Names in small letters. */
  readonly headers: IncomingHttpHeaders
  /** The address that the request came from. */
  readonly peer: string
  /** The whole body; the route can read it all the same. Throws an error of the contract's where it is too long. */
  body(): Promise<Buffer>
  /** The body as JSON. Throws ValidationError where it is none. */
  json(): Promise<unknown>
}

export interface PluginResponse {
  /** 0 until somebody has answered. */
  status: number
  /** The text that goes out; null: none, or nobody has answered yet. */
  readonly body: string | Buffer | null
  /** The body as a value; undefined where it is no JSON. */
  json(): unknown
  /** Answers, instead of whatever was answered before: JSON, or with a `type` a text or bytes as they are. */
  send(value: unknown, terms?: SendTerms): void
  /** Whatever the answer turns out to be, it gets this header. */
  setHeader(name: string, value: string): void
}

export interface SendTerms {
  /** 200 where it says nothing else. */
  readonly status?: number
  /** The media type; JSON where it says nothing else. */
  readonly type?: string
}

/** Who asks. What a middleware adds, policies and later middlewares see. */
export interface RequestState {
  /** Null without somebody signed in. */
  readonly user: RequestUser | null
  /** The API token of the request; null without one. */
  readonly token: { readonly name: string } | null
  /** The role that decides: the user's, or `public`; null with an API token. */
  readonly role: { readonly type: string; readonly name: string } | null
  readonly ability: Ability
  [name: string]: unknown
}

/** These, and whatever permissions of the project ask of a user. */
export interface RequestUser {
  readonly id: number
  readonly documentId: string
  readonly username: string
  readonly email: string
  readonly provider: string | null
  readonly confirmed: boolean | null
  readonly blocked: boolean | null
  /** As answers have it: `2026-01-31T09:30:00.000Z`. */
  readonly createdAt: string
  readonly updatedAt: string
  readonly [attribute: string]: unknown
}
