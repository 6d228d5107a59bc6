import { type Fault, fault, RequestFault } from '../faults/fault.ts'
import type { Observer } from '../observe/observation.ts'
import type { PolicyContext, RestContext } from './context.ts'
import type { RouteMiddleware } from './middleware.ts'

/** A policy with config and app bound. */
export interface BoundPolicy {
  readonly name: string
  check(context: PolicyContext): unknown
}

export interface PolicyTerms {
  readonly observer: Observer
  /** Milliseconds. */
  readonly timeout: number
}

/** Checks policies in order. Returns the fault of the first that does not pass, or null. Never rejects. */
export async function checkPolicies(
  policies: readonly BoundPolicy[],
  context: PolicyContext,
  terms: PolicyTerms,
): Promise<Fault | null> {
  for (const policy of policies) {
    const verdict = await evaluatePolicy(policy, context, terms.timeout)
    if (passes(verdict)) continue
    reportVerdict(policy.name, verdict, context, terms)
    return toPolicyFault(verdict)
  }
  return null
}

type Verdict =
  | { readonly kind: 'answered'; readonly value: unknown }
  | { readonly kind: 'failed'; readonly error: unknown }
  | { readonly kind: 'late' }

async function evaluatePolicy(
  policy: BoundPolicy,
  context: PolicyContext,
  timeout: number,
): Promise<Verdict> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<Verdict>(resolve => {
    timer = setTimeout(resolve, timeout, { kind: 'late' })
  })
  const answered = (async () => policy.check(context))().then(
    (value): Verdict => ({ kind: 'answered', value }),
    (error: unknown): Verdict => ({ kind: 'failed', error }),
  )
  try {
    return await Promise.race([answered, late])
  } finally {
    clearTimeout(timer)
  }
}

const passes = (verdict: Verdict): boolean =>
  verdict.kind === 'answered' && (verdict.value === true || verdict.value === undefined)

/** reference/graphql.md#9-extension-service: a PolicyError keeps its message and details; other errors are hidden. */
function toPolicyFault(verdict: Verdict): Fault {
  const thrown = verdict.kind === 'failed' ? verdict.error : null
  if (thrown instanceof RequestFault && thrown.fault.code === 'policy') return thrown.fault
  return fault('policy', 'Policy Failed')
}

function reportVerdict(
  policy: string,
  verdict: Verdict,
  context: PolicyContext,
  { observer, timeout }: PolicyTerms,
): void {
  const where = { requestId: context.http.request.id, policy }
  if (verdict.kind === 'late')
    observer.emit({ kind: 'policyFailed', ...where, reason: `no answer within ${timeout} ms` })
  else if (verdict.kind === 'failed') {
    if (verdict.error instanceof RequestFault) observer.emit({ kind: 'policyRefused', ...where })
    else observer.emit({ kind: 'policyFailed', ...where, reason: 'it threw', error: verdict.error })
  } else if (verdict.value === false) observer.emit({ kind: 'policyRefused', ...where })
  else observer.emit({ kind: 'policyFailed', ...where, reason: `it answered a ${typeof verdict.value}` })
}

/** A middleware with options and app bound. */
export interface BoundMiddleware {
  readonly name: string
  readonly run: RouteMiddleware
}

type InnerHandler = () => Promise<void>

/** Runs a handler wrapped in middlewares; the first is outermost. */
export const runMiddlewares = (
  middlewares: readonly BoundMiddleware[],
  context: RestContext,
  inside: InnerHandler,
): Promise<void> =>
  middlewares.reduceRight<InnerHandler>(
    (inner, middleware) => () => runMiddleware(middleware, context, inner),
    inside,
  )()

/** Awaits `next()` even if the middleware did not, and rejects if it was called twice. */
async function runMiddleware(
  { name, run }: BoundMiddleware,
  context: RestContext,
  inside: InnerHandler,
): Promise<void> {
  let inner: Promise<void> | undefined
  let twice: Error | undefined
  const next = (): Promise<void> => {
    if (inner) {
      twice = new Error(`the middleware ${name} called next() twice`)
      return handledRejection(twice)
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

function handledRejection(error: Error): Promise<never> {
  const promise = Promise.reject(error)
  promise.catch(ignore)
  return promise
}

/** Prevents an unhandled rejection; code that awaits the promise still gets the error. */
const ignore = (): undefined => undefined
