import type { RestContext } from './context.ts'
import type { RouteMiddleware } from './middleware.ts'

/** A middleware in its place: its options and the app are given already. */
export interface BoundMiddleware {
  readonly name: string
  readonly run: RouteMiddleware
}

type Inside = () => Promise<void>

/** Runs what is inside with the middlewares round it, the first outermost. */
export const runAround = (
  middlewares: readonly BoundMiddleware[],
  context: RestContext,
  inside: Inside,
): Promise<void> =>
  middlewares.reduceRight<Inside>((inner, middleware) => () => runOne(middleware, context, inner), inside)()

/** Nothing of it is left running or unheard: neither a `next()` that nobody waited for, nor a second one. */
async function runOne({ name, run }: BoundMiddleware, context: RestContext, inside: Inside): Promise<void> {
  let inner: Promise<void> | undefined
  let twice: Error | undefined
  const next = (): Promise<void> => {
    if (inner) {
      twice = new Error(`the middleware ${name} called next() twice`)
      return rejected(twice)
    }
    inner = inside()
    inner.catch(ignore)
    return inner
  }
  await run(context, next)
  if (twice) throw twice
  const failure = await inner?.then(ignore, (error: unknown) => ({ error }))
  if (failure && context.http.response.status === 0) throw failure.error
}

function rejected(error: Error): Promise<never> {
  const promise = Promise.reject(error)
  promise.catch(ignore)
  return promise
}

/** Whoever waits for the promise hears of it; here it is only kept from ending the process. */
const ignore = (): undefined => undefined
