import type {
  DocumentCall,
  DocumentContext,
  DocumentMiddleware,
  RunDocumentMiddlewares,
} from '../plugins/services/documents-api.ts'

/** Composes middlewares into one, the first outermost; null without any. */
export function composeMiddlewares(
  middlewares: readonly DocumentMiddleware[],
): RunDocumentMiddlewares | null {
  if (middlewares.length === 0) return null
  return ({ type, action, params, perform }: DocumentCall) => {
    const context: DocumentContext = {
      uid: type.uid,
      contentType: type,
      action,
      params: structuredClone(params),
    }
    const run = async (index: number): Promise<unknown> => {
      const middleware = middlewares[index]
      if (!middleware) return perform(context.params)
      const value = await middleware(
        context,
        once(() => run(index + 1)),
      )
      if (value === undefined)
        throw new Error('A document middleware answered nothing: it must return next()')
      return value
    }
    return run(0)
  }
}

function once(next: () => Promise<unknown>): () => Promise<unknown> {
  let called = false
  return async () => {
    if (called) throw new Error('next() of a document middleware was called twice')
    called = true
    return next()
  }
}
