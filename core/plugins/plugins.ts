import type { Extension } from './extension.ts'
import type { Middleware } from './middleware.ts'
import type { Policy } from './policy.ts'

/** A project's plugins by name, loaded and checked; nothing of them has run yet. */
export interface Plugins {
  readonly policies: ReadonlyMap<string, Policy>
  readonly middlewares: ReadonlyMap<string, Middleware>
  readonly extensions: ReadonlyMap<string, Extension>
  /** Absolute: the modules of the project that were loaded, also those that others import. */
  readonly files: readonly string[]
}
