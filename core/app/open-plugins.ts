import type { Caller } from '../access/caller.ts'
import { everyGrant } from '../access/every-grant.ts'
import { failed, type Result } from '../base/result.ts'
import type { Identify } from '../identity/identify.ts'
import type { Observer } from '../observe/observation.ts'
import { type Registered, registerPlugins } from '../plugins/register.ts'
import type { GuardTerms } from '../plugins/route-guard.ts'
import { findConflicts } from '../rest/route-conflicts.ts'
import type { Blueprint } from './compile-app.ts'
import type { StartFault } from './start-fault.ts'

/** What plugins take part in, before anything is opened; or why one of them cannot. */
export async function registerApp(
  { project, model, plugins }: Blueprint,
  observer: Observer,
): Promise<Result<Registered, StartFault>> {
  const registered = await registerPlugins(plugins, { settings: project.settings, model, observer })
  const faults = registered.ok ? findConflicts(registered.value.routes, model) : registered.reasons
  if (registered.ok && faults.length === 0) return registered
  return failed(...faults.map((message): StartFault => ({ kind: 'other', message })))
}

interface Guarding {
  readonly registered: Registered
  readonly identify: Identify
  readonly observer: Observer
}

export function guardTermsOf(
  { project, model, access }: Blueprint,
  { registered, identify, observer }: Guarding,
): GuardTerms {
  const { roles, apiTokens, policyTimeout } = project.settings
  // As the reference has it for what has no permission of its own: signed-in users and full-access tokens.
  const isKnown = ({ kind, grants }: Caller) =>
    kind === 'user' || (kind === 'token' && apiTokens[grants.name]?.type === 'full-access')
  return {
    app: registered.app,
    identify,
    nobody: access.nobody,
    everything: everyGrant(model),
    isKnown,
    roleName: type => roles[type]?.name ?? type,
    observer,
    timeout: policyTimeout,
  }
}
