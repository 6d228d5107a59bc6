import { type Fault, fault, RequestFault } from '../faults/fault.ts'
import type { Observer } from '../observe/observation.ts'
import type { PolicyContext } from './context.ts'

/** A policy in its place: its config and the app are given already. */
export interface BoundPolicy {
  readonly name: string
  check(context: PolicyContext): unknown
}

export interface PolicyTerms {
  readonly observer: Observer
  /** Milliseconds. */
  readonly timeout: number
}

/** Asks policies in order; why the first that does not pass refuses, or null. Whatever they do, it answers. */
export async function askPolicies(
  policies: readonly BoundPolicy[],
  context: PolicyContext,
  terms: PolicyTerms,
): Promise<Fault | null> {
  for (const policy of policies) {
    const verdict = await ask(policy, context, terms.timeout)
    if (passes(verdict)) continue
    tell(policy.name, verdict, context, terms)
    return refusalOf(verdict)
  }
  return null
}

type Verdict =
  | { readonly kind: 'answered'; readonly value: unknown }
  | { readonly kind: 'failed'; readonly error: unknown }
  | { readonly kind: 'late' }

async function ask(policy: BoundPolicy, context: PolicyContext, timeout: number): Promise<Verdict> {
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

/** Spec 4.10, contract/graphql.md 9: a PolicyError keeps its message and details, nothing else is told. */
function refusalOf(verdict: Verdict): Fault {
  const thrown = verdict.kind === 'failed' ? verdict.error : null
  if (thrown instanceof RequestFault && thrown.fault.code === 'policy') return thrown.fault
  return fault('policy', 'Policy Failed')
}

function tell(
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
