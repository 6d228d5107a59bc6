import type { Ability } from './ability.ts'

/** The caller. Middlewares may add properties for policies and later middlewares. */
export interface RequestState {
  /** null if no user is signed in. */
  readonly user: RequestUser | null
  /** The claims of a token of `auth.issuers`; null: another caller. */
  readonly claims: Readonly<Record<string, unknown>> | null
  /** The API token of the request; null: none. */
  readonly token: { readonly name: string } | null
  /** The effective role: the user's, or `public`; null with an API token. */
  readonly role: { readonly type: string; readonly name: string } | null
  readonly ability: Ability
  [name: string]: unknown
}

/** These attributes, and those that conditions of the project use. */
export interface RequestUser {
  readonly id: number
  readonly documentId: string
  readonly username: string
  readonly email: string
  readonly provider: string | null
  readonly confirmed: boolean | null
  readonly blocked: boolean | null
  /** ISO 8601: `2026-01-31T09:30:00.000Z`. */
  readonly createdAt: string
  readonly updatedAt: string
  readonly [attribute: string]: unknown
}
