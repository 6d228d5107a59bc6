import { CHANGES_OF_UPDATE } from '../access/actions.ts'
import type { Path } from '../faults/diagnostic.ts'
import type { Project } from '../project/project.ts'
import type { OperationSettings } from '../project/settings/settings.ts'

/** The access configuration of a route or resolver, in addition to or instead of roles. */
export interface RouteOverride {
  readonly kind: 'route' | 'resolver'
  /** `article.find`, `Query.articles` */
  readonly key: string
  /** Public; or these permissions instead of the default; null: the default. */
  readonly auth: false | readonly string[] | null
  readonly policies: readonly string[]
  readonly path: Path
}

/** Every route and resolver with an access configuration. */
export function openingsOf({ settings }: Pick<Project, 'settings'>): readonly RouteOverride[] {
  const { routesConfig, resolversConfig } = settings
  return [
    ...Object.entries(routesConfig).map(([key, declared]) =>
      toOpening('route', 'routesConfig', key, declared),
    ),
    ...Object.entries(resolversConfig).map(([key, declared]) =>
      toOpening('resolver', 'resolversConfig', key, declared),
    ),
  ].filter(({ auth, policies }) => auth !== null || policies.length > 0)
}

function toOpening(
  kind: RouteOverride['kind'],
  section: string,
  key: string,
  { auth, policies }: OperationSettings,
): RouteOverride {
  return {
    kind,
    key,
    auth: auth === false ? false : (auth?.scope ?? null),
    policies: policies.map(({ name }) => name),
    path: [section, key],
  }
}

export function openingFor(subject: string, action: string, project: Project): RouteOverride | null {
  const route = CHANGES_OF_UPDATE.some(change => change === action) ? 'update' : action
  return (
    openingsOf(project).find(({ kind, key }) => kind === 'route' && key === `${subject}.${route}`) ?? null
  )
}

/** A description of the route's `auth`; null if roles decide. */
export function doorOf({ auth }: Pick<RouteOverride, 'auth'>): string | null {
  if (auth === null) return null
  if (auth === false || auth.length === 0) return 'open to everybody'
  return `for who has ${auth.join(' and ')}`
}
