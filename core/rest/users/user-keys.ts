import type { UserKeys } from '../../identity/user-keys.ts'
import { answerJson } from '../answer.ts'
import {
  type EndpointCall,
  type Endpoints,
  type GeneratedResponder,
  openEndpoints,
  type RestEndpoint,
} from '../endpoint.ts'
import { readBareBody } from '../parse-query-string.ts'
import type { RestOptions } from '../rest-call.ts'

/** API keys of the caller (docs/identity.md); they need the permission `me`. */
export function openUserKeyRoutes(keys: UserKeys, options: RestOptions): GeneratedResponder {
  const on = (perform: RestEndpoint['perform']): RestEndpoint => ({ subject: 'users', action: 'me', perform })
  const endpoints: Endpoints = {
    'users/me/keys': {
      GET: on(async call => answerJson(JSON.stringify(await keys.findMany(call.caller)), call)),
      POST: on(call => createKey(call, keys)),
    },
    'users/me/keys/:id': {
      DELETE: on(async ({ id, caller }) => {
        await keys.delete(id, caller)
        return { status: 204, body: null }
      }),
    },
  }
  return openEndpoints(endpoints, { ...options, prefix: options.settings.prefix })
}

/** The key is in this answer alone, which must not be stored. */
async function createKey({ request, caller }: EndpointCall, keys: UserKeys) {
  const made = await keys.create(await readBareBody(request), caller)
  return { status: 201, body: JSON.stringify(made), headers: { 'Cache-Control': 'no-store' } }
}
