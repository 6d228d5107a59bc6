import type { GraphQLResolveInfo } from 'graphql'
import type { Identify } from '../../identity/identify.ts'
import type { AuthService } from '../../identity/sign-in/auth-service.ts'
import type { UsersService } from '../../identity/users/users-service.ts'
import type { Files } from '../../media/files.ts'
import type { Arguments } from '../parse/operation-context.ts'
import type { ExecutionContext, ResolveOptions } from './resolver-context.ts'

/** Services of the fields in sdl/generate-definitions.ts. */
export interface FixedOptions extends ResolveOptions {
  readonly identify: Identify
  readonly auth: AuthService
  readonly users: UsersService
  readonly files: Files
}

/** A root field that exists in every project. */
export interface FixedField {
  /** Checks the caller's permission, before any argument is read. */
  allows(execution: ExecutionContext): boolean | Promise<boolean>
  /** Why it is refused. */
  reason(execution: ExecutionContext): string
  resolve(args: Arguments, execution: ExecutionContext, info: GraphQLResolveInfo): Promise<unknown>
}
