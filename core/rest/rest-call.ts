import type { Caller } from '../access/caller.ts'
import type { ActionOptions, PublicationTime } from '../actions/action-call.ts'
import type { VersionPrefetch } from '../cache/versions.ts'
import type { HttpRequest } from '../faults/http-exchange.ts'
import type { Identify } from '../identity/identify.ts'
import type { Files } from '../media/files.ts'
import type { RouteGuards } from '../plugins/register.ts'
import type { Route } from './routes.ts'

/** Services and settings that the REST handlers use. Without document middlewares the JSON text of the database is sent unparsed. */
export interface RestOptions extends Omit<ActionOptions, 'rules'> {
  readonly identify: Identify
  /** Absent: no route has a guard. */
  readonly guards?: RouteGuards | undefined
  /** For forms with files, in the format of Strapi 4. */
  readonly files?: Files | undefined
  /** Maximum bytes of the text of `data` in such a form; absent: 1 MiB. */
  readonly bodyLimit?: number
}

/** One request of a known route by an identified caller who has the permission for its action. */
export interface RestCall {
  readonly request: HttpRequest
  readonly route: Route
  readonly caller: Caller
  /** Prefetched version check; absent for anonymous requests and where project code takes part. */
  readonly prefetch?: VersionPrefetch | undefined
  /** Of a save in the format of Strapi 4. */
  readonly publication?: PublicationTime | undefined
}
