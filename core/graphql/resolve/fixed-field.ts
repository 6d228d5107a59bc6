import type { GraphQLResolveInfo } from 'graphql'
import type { Identify } from '../../identity/identify.ts'
import type { AuthService } from '../../identity/sign-in/auth-service.ts'
import type { UsersService } from '../../identity/users/users-service.ts'
import type { Files } from '../../media/files.ts'
import type { Arguments } from '../parse/operation-context.ts'
import type { ExecutionContext, ResolveTerms } from './resolve-read.ts'

/** What the fields of fixed-definitions.ts work with, beside documents. */
export interface FixedTerms extends ResolveTerms {
  readonly identify: Identify
  readonly auth: AuthService
  readonly users: UsersService
  readonly files: Files
}

/** A root field that every project has. */
export interface FixedField {
  /** Whether the caller may ask at all; before anything of what he gives is looked at. */
  allows(acting: ExecutionContext): boolean | Promise<boolean>
  resolve(given: Arguments, acting: ExecutionContext, info: GraphQLResolveInfo): Promise<unknown>
}
