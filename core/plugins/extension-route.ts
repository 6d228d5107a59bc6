import type { RouteHandler, RouteMethod } from './extension.ts'
import type { BoundMiddleware } from './middlewares.ts'
import type { BoundPolicy } from './policies.ts'
import type { Door } from './route-auth.ts'

/** A route of an extension, with everything that it names found. */
export interface ExtensionRoute {
  /** `extensions/search.ts` */
  readonly by: string
  readonly method: RouteMethod
  /** Below the prefix, as it was written: `/restaurants/:documentId/menu`. */
  readonly path: string
  readonly handler: RouteHandler
  readonly door: Door
  readonly policies: readonly BoundPolicy[]
  readonly middlewares: readonly BoundMiddleware[]
}

/** The words of a path below the prefix; `:name` stands for any one. */
export const wordsOf = (path: string): readonly string[] => path.split('/').slice(1)

/** What two paths have in common that lead to the same requests: names of parameters and capitals do not matter. */
export const shapeOf = (path: string): string =>
  wordsOf(path)
    .map(word => (word.startsWith(':') ? ':' : word.toLowerCase()))
    .join('/')
