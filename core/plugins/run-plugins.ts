import { didYouMean } from '../base/nearest.ts'
import { toReadableError } from '../base/project-frame.ts'
import { withTimeout } from '../base/with-timeout.ts'
import { type Fault, fault, RequestFault } from '../faults/fault.ts'
import type { Observer } from '../observe/observation.ts'
import type { Json } from '../project/settings/settings.ts'
import type { PluginApp, PolicyContext, RestContext } from './context.ts'
import type { Plugins, RouteMiddlewareUse, RoutePolicy } from './extension.ts'
import {
  type ExpressMiddleware,
  type Middleware,
  type MiddlewareForm,
  missingForm,
  type ResolverMiddleware,
  type RouteMiddleware,
} from './middleware.ts'
import { assertKnownKeys, nameType } from './plugin-module.ts'
import type { ResolverMiddlewareUse, ResolverPolicy } from './services/graphql-service.ts'

/** A policy with config and app bound. */
export interface BoundPolicy {
  readonly name: string
  check(context: PolicyContext): unknown
}

export interface PolicyOptions {
  readonly observer: Observer
  /** Milliseconds. */
  readonly timeout: number
}

/** Checks policies in order. Returns the fault of the first that does not pass, or null. Never rejects. */
export async function checkPolicies(
  policies: readonly BoundPolicy[],
  context: PolicyContext,
  options: PolicyOptions,
): Promise<Fault | null> {
  for (const policy of policies) {
    const verdict = await evaluatePolicy(policy, context, options.timeout)
    if (passes(verdict)) continue
    const failure = failureOf(verdict, options.timeout)
    reportVerdict(policy.name, { verdict, failure }, context, options)
    const reason = `The policy \`${policy.name}\` ${failure === null ? 'refused' : `failed: ${failure}`}`
    return { ...toPolicyFault(verdict), reason }
  }
  return null
}

type Verdict =
  | { readonly kind: 'answered'; readonly value: unknown }
  | { readonly kind: 'failed'; readonly error: Error }
  | { readonly kind: 'late' }

async function evaluatePolicy(
  policy: BoundPolicy,
  context: PolicyContext,
  timeout: number,
): Promise<Verdict> {
  const answered = (async () => policy.check(context))().then(
    (value): Verdict => ({ kind: 'answered', value }),
    (error: unknown): Verdict => ({ kind: 'failed', error: toReadableError(error) }),
  )
  return withTimeout<Verdict>(timeout, answered, { kind: 'late' })
}

const passes = (verdict: Verdict): boolean =>
  verdict.kind === 'answered' && (verdict.value === true || verdict.value === undefined)

/** reference/graphql.md#9-extension-service: a PolicyError keeps its message and details; other errors are hidden. */
function toPolicyFault(verdict: Verdict): Fault {
  const thrown = verdict.kind === 'failed' ? verdict.error : null
  if (thrown instanceof RequestFault && thrown.fault.code === 'policy') return thrown.fault
  return fault('policy', 'Policy Failed')
}

/** Why a policy could not decide; null: it has refused. */
function failureOf(verdict: Verdict, timeout: number): string | null {
  if (verdict.kind === 'late') return `no answer within ${timeout} ms`
  if (verdict.kind === 'answered')
    return verdict.value === false ? null : `it answered ${nameType(verdict.value)}`
  const { error } = verdict
  if (error instanceof RequestFault && REFUSALS.has(error.fault.code)) return null
  return `it threw ${error.message || error.name}`
}

/** Errors by which code refuses. Others, such as that of a wrong name of an attribute, are mistakes. */
const REFUSALS: ReadonlySet<string> = new Set(['policy', 'forbidden', 'unauthorized'])

interface Judged {
  readonly verdict: Verdict
  readonly failure: string | null
}

function reportVerdict(
  policy: string,
  { verdict, failure }: Judged,
  context: PolicyContext,
  { observer }: PolicyOptions,
): void {
  const where = { requestId: context.http.request.id, policy }
  if (failure === null) observer.emit({ kind: 'policyRefused', ...where })
  else {
    const error = verdict.kind === 'failed' && { error: verdict.error }
    observer.emit({ kind: 'policyFailed', ...where, reason: failure, ...error })
  }
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
  let hasEnded = false
  const next = (): Promise<void> => {
    if (hasEnded) {
      const text = `the middleware ${name} called next() after it had ended, so that nothing was run: return or await next()`
      context.app.log.warn(text)
      return handledRejection(new Error(text))
    }
    if (inner) {
      twice = new Error(`the middleware ${name} called next() twice`)
      return handledRejection(twice)
    }
    inner = inside()
    inner.catch(ignore)
    return inner
  }
  await (async () => run(context, next))().finally(() => {
    hasEnded = true
  })
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

/**
 * Resolves uses of plugins to functions, with config, options and app bound. Each use is bound once, at start. Throws an
 * Error for unknown names; names in project.yaml were checked before.
 */
export interface PluginBinder {
  policy(use: RoutePolicy): BoundPolicy
  middleware(use: RouteMiddlewareUse): BoundMiddleware
  resolverPolicy(use: ResolverPolicy): BoundPolicy
  resolverMiddleware(use: ResolverMiddlewareUse): ResolverMiddleware
  express(use: { readonly name: string; readonly options?: unknown }): ExpressMiddleware
}

export function openPluginBinder(plugins: Plugins, app: PluginApp): PluginBinder {
  const { policies, middlewares } = plugins
  const withForm = (form: MiddlewareForm, name: string): Middleware => {
    const middleware = middlewares.get(name) ?? throwUnknown('middleware', name, middlewares.keys())
    if (middleware[form]) return middleware
    throw new Error(missingForm(middleware, form, `middlewares/${name}`))
  }
  const named = (use: unknown): BoundPolicy => {
    const { name, input: config } = parseUse(use, 'policy')
    const policy = policies.get(name) ?? throwUnknown('policy', name, policies.keys())
    const input = checkedInput({ kind: 'policy', name, input: config }, plugins)
    return { name, check: context => policy.check(context, input, app) }
  }
  return {
    policy: use =>
      typeof use === 'function'
        ? inline(use, context => context.kind === 'rest' && use(context, app))
        : named(use),
    middleware(use) {
      if (typeof use === 'function') return { name: use.name || INLINE, run: use }
      const { name, input } = parseUse(use, 'middleware')
      const middleware = withForm('route', name)
      const options = checkedInput({ kind: 'middleware', name, input }, plugins)
      return {
        name,
        run: openForm(`middlewares/${name}: \`route\``, () => middleware.route?.(options, app)),
      }
    },
    resolverPolicy: use =>
      typeof use === 'function'
        ? inline(use, context => context.kind === 'graphql' && use(context, app))
        : named(use),
    resolverMiddleware(use) {
      if (typeof use === 'function') return use
      const { name, input } = parseUse(use, 'middleware')
      const middleware = withForm('resolver', name)
      const options = checkedInput({ kind: 'middleware', name, input }, plugins)
      return openForm(`middlewares/${name}: \`resolver\``, () => middleware.resolver?.(options, app))
    },
    express({ name, options }) {
      const middleware = withForm('express', name)
      const made = openForm(`middlewares/${name}: \`express\``, () =>
        middleware.express?.(toOptions(options), app),
      )
      return passOnce(made, name, app)
    },
  }
}

const INLINE = 'a function of an extension'

const inline = (use: { readonly name: string }, check: BoundPolicy['check']): BoundPolicy => ({
  name: use.name || INLINE,
  check,
})

interface NamedUse {
  readonly name: string
  readonly input: unknown
}

interface RawUse {
  readonly name: string
  readonly config?: unknown
  readonly options?: unknown
}

const isNamed = (use: unknown): use is RawUse =>
  typeof use === 'object' && use !== null && 'name' in use && typeof use.name === 'string'

/** `config` and `options` are synonyms; giving both is an error. */
function parseUse(use: unknown, kind: 'policy' | 'middleware'): NamedUse {
  if (typeof use === 'string') return { name: use, input: undefined }
  if (isNamed(use)) {
    const { name, config, options } = use
    assertKnownKeys(use, ['name', 'config', 'options'], `the ${kind} \`${name}\``)
    if (config !== undefined && options !== undefined)
      throw new Error(`the ${kind} \`${name}\` has both config and options, which mean the same`)
    return { name, input: config ?? options }
  }
  throw new Error('policies and middlewares are names, objects with a name, or functions')
}

interface PluginInput extends NamedUse {
  readonly kind: 'policy' | 'middleware'
}

/** Checked against the plugin's schema, if it has one. Values of project.yaml were checked before, with their places. */
function checkedInput({ kind, name, input }: PluginInput, { checks }: Plugins): Json {
  const value = toOptions(input)
  const misfits = checks.get(`${kind} ${name}`)?.(value) ?? []
  if (misfits.length === 0) return value
  const word = kind === 'policy' ? 'this config' : 'these options'
  const reasons = misfits.map(({ path, message }) => [...path, message].join(': '))
  throw new Error(`the ${kind} \`${name}\` does not take ${word}: ${reasons.join('; ')}`)
}

const toOptions = (input: unknown): Json => (input ?? {}) as Json

function throwUnknown(kind: string, name: string, known: Iterable<string>): never {
  throw new Error(`there is no ${kind} \`${name}\`${didYouMean(name, known)}`)
}

/** Creates one form of a middleware from its options. Errors name the form and the module. */
function openForm<Form>(form: string, create: () => Form | undefined): Form {
  const made = callForm(form, create)
  if (typeof made === 'function') return made
  // Reported here. Its rejection would end the process of a test before that.
  if (made instanceof Promise) made.catch(ignore)
  const found = made instanceof Promise ? 'a promise: it must not be async' : nameType(made)
  throw new Error(`${form} must return a function, found ${found}`)
}

function callForm<Made>(form: string, create: () => Made): Made {
  try {
    return create()
  } catch (error) {
    const { message, stack } = toReadableError(error)
    throw Object.assign(new Error(`${form} failed: ${message}`, { cause: error }), { stack })
  }
}

/**
 * After a second `next`, Express would answer 404 while the request is executed, and an error after the first one would hide the
 * answer of a request that is executed. Express takes a thrown null or undefined for a call of `next()`. Routers and error
 * handlers of Express stay as they are, since it recognizes them.
 */
function passOnce(middleware: ExpressMiddleware, name: string, { log }: PluginApp): ExpressMiddleware {
  if (middleware.length > 3 || 'handle' in middleware) return middleware
  return (request, response, next) => {
    let hasPassed = false
    const fail = (thrown: unknown) => {
      const error = toReadableError(thrown)
      if (hasPassed) log.error(`the middleware ${name} failed after next()`, error)
      else next(thrown ?? new Error(`the middleware ${name} threw ${error.message}`))
    }
    const pass = (...error: readonly unknown[]) => {
      if (hasPassed) {
        log.warn(`the middleware ${name} called next() twice: the second call has no effect`)
        return
      }
      hasPassed = true
      next(...error)
    }
    try {
      const result = middleware(request, response, pass)
      if (result instanceof Promise) result.catch(fail)
    } catch (error) {
      fail(error)
    }
  }
}
