import { existsSync, readFileSync } from 'node:fs'
import { readdir, symlink } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { type RegisteredApp, registerApp } from '../../../core/app/open-plugins.ts'
import { printStartFault } from '../../../core/app/start-fault.ts'
import { failed, ok, type Result } from '../../../core/base/result.ts'
import { ticked } from '../../../core/base/text.ts'
import type { RolesProject } from '../../../core/explain/roles-project.ts'
import { printDiagnostic } from '../../../core/faults/diagnostic.ts'
import { SILENT } from '../../../core/observe/observation.ts'
import { FOLDERS } from '../../../core/plugins/load/find-modules.ts'
import { loadPlugins } from '../../../core/plugins/load/load-plugins.ts'
import type { RouteAuth } from '../../../core/plugins/route-guard.ts'
import type { OperationSettings, Settings } from '../../../core/project/settings/settings.ts'
import type { ProjectAtRef } from '../roles/roles-diff.ts'
import type { ApiChange } from './compare-api.ts'
import type { ChangeLevel } from './compare-attributes.ts'

/** The code of one version of a project, registered as at a start, but not bootstrapped. */
export interface CodeVersion {
  /** The folder of project.yaml. */
  readonly root: string
  readonly settings: Settings
  readonly app: RegisteredApp
  /** The modules of policies, middlewares and extensions, and all that they import: relative paths. */
  readonly files: readonly string[]
}

/** Lets the modules of a checked-out version import the packages that are installed now. */
export async function linkPackages(folder: string, { folder: own, top }: ProjectAtRef): Promise<void> {
  const levels = relative(top, own).split(sep).filter(Boolean).length
  for (let level = 0; level <= levels; level++) {
    const up = Array.from({ length: level }, () => '..')
    const [packages, link] = [join(folder, ...up, 'node_modules'), join(own, ...up, 'node_modules')]
    if (existsSync(packages) && !existsSync(link)) await symlink(packages, link, 'junction')
  }
}

/** Whether a project has policies, middlewares or extensions. */
export const hasCode = (root: string): boolean =>
  Object.values(FOLDERS).some(folder => existsSync(join(root, folder)))

/** Loads the code of a project. Fails with the reasons why it cannot be registered. */
export async function loadCode({ project, model }: RolesProject): Promise<Result<CodeVersion, string>> {
  const plugins = await loadPlugins(project, model)
  if (!plugins.ok) return failed(...plugins.reasons.map(printDiagnostic))
  const app = await registerApp({ project, model, plugins: plugins.value }, SILENT)
  if (!app.ok) return failed(...app.reasons.map(printStartFault))
  const { root, settings } = project
  const imported = plugins.value.files.map(file => relative(root, file).split(sep).join('/'))
  const files = [...new Set([...(await moduleFiles(root)), ...imported])].toSorted()
  return ok({ root, settings, app: app.value, files })
}

/** The files of the three folders: jiti leaves some modules to Node, which does not list what they import. */
async function moduleFiles(root: string): Promise<readonly string[]> {
  const found = Object.values(FOLDERS).map(async folder => {
    const path = join(root, folder)
    if (!existsSync(path)) return []
    const entries = await readdir(path, { recursive: true, withFileTypes: true })
    return entries
      .filter(entry => entry.isFile())
      .map(entry => relative(root, join(entry.parentPath, entry.name)).split(sep).join('/'))
  })
  return (await Promise.all(found)).flat()
}

/** Changes of routes, of what decides on them, and of the files of code. */
export const compareCode = (before: CodeVersion, after: CodeVersion): readonly ApiChange[] => [
  ...compareRoutes(before, after),
  ...compareOperations(before.settings, after.settings),
  ...compareFiles(before, after),
]

interface Route {
  /** `GET /search`, `the router /shop`. */
  readonly name: string
  /** Without its extension: `extensions/search`. */
  readonly source: string
  readonly path: string
  readonly replaces: boolean
  /** What decides on a request. */
  readonly options: Readonly<Record<'auth' | 'policies' | 'middlewares', readonly string[]>>
}

const routesOf = ({ app: { routes, mounts } }: CodeVersion): readonly Route[] => [
  ...routes.map(({ method, source, path, replaces, auth, policies, middlewares }) => ({
    ...{ name: `the route ${method} ${path}`, source, path, replaces },
    options: { auth: authOf(auth), policies: policies.map(nameOf), middlewares: middlewares.map(nameOf) },
  })),
  ...mounts.map(({ source, path, auth, policies }) => ({
    ...{ name: `the router ${path}`, source, path, replaces: false },
    options: { auth: authOf(auth), policies: policies.map(nameOf), middlewares: [] },
  })),
]

const nameOf = ({ name }: { readonly name: string }): string => name

function authOf(auth: RouteAuth): readonly string[] {
  if (auth.kind === 'open') return ['everybody']
  return auth.kind === 'own'
    ? ['its own permission']
    : auth.scopes.map(({ subject, action }) => `${subject}.${action}`)
}

function compareRoutes(before: CodeVersion, after: CodeVersion): readonly ApiChange[] {
  const [old, own] = [routesOf(before), routesOf(after)]
  const change = (level: ChangeLevel, message: string, route: Route, version: 'now' | 'was'): ApiChange => ({
    ...{ level, scope: 'rest', message, now: null, was: null },
    module: { ...findText(version === 'now' ? after : before, route.source, route.path), version },
  })
  const known = new Set(old.map(nameOf))
  return [
    ...old.flatMap(route => {
      const same = own.find(({ name }) => name === route.name)
      const level = route.replaces ? 'risky' : 'breaking'
      const fate = route.replaces ? 'does not replace the generated one any more' : 'is gone'
      if (!same) return [change(level, `${route.name} ${fate}`, route, 'was')]
      return (['auth', 'policies', 'middlewares'] as const)
        .filter(key => !isDeepStrictEqual(route.options[key], same.options[key]))
        .map(key =>
          change(
            'risky',
            `${route.name}: ${LABELS[key]} ${list(same.options[key])} instead of ${list(route.options[key])}`,
            same,
            'now',
          ),
        )
    }),
    ...own
      .filter(({ name }) => !known.has(name))
      .map(route =>
        route.replaces
          ? change('risky', `${route.name} replaces the generated one`, route, 'now')
          : change('safe', `${route.name} is new`, route, 'now'),
      ),
  ]
}

const LABELS = { auth: 'it requires', policies: 'its policies are', middlewares: 'its middlewares are' }

const list = (names: readonly string[]): string => (names.length === 0 ? 'none' : ticked(names))

/** `routesConfig`, `resolversConfig` and the middlewares around every request. */
function compareOperations(before: Settings, after: Settings): readonly ApiChange[] {
  const sections = [
    ['rest', 'routesConfig'],
    ['graphql', 'resolversConfig'],
  ] as const
  const operations = sections.flatMap(([protocol, key]) =>
    [...new Set([...Object.keys(before[key]), ...Object.keys(after[key])])].flatMap(name => {
      const [old, own] = [before[key][name], after[key][name]]
      return partsOf(old, own).map(
        (message): ApiChange => ({
          ...{ level: 'risky', scope: protocol, message: `\`${name}\`: ${message}` },
          ...{ now: own ? [key, name] : null, was: [key, name] },
        }),
      )
    }),
  )
  if (isDeepStrictEqual(before.middlewares, after.middlewares)) return operations
  const names = (settings: Settings) => list(settings.middlewares.map(nameOf))
  const message = `every request passes the middlewares ${names(after)} instead of ${names(before)}`
  const around = isDeepStrictEqual(names(before), names(after))
    ? `the middlewares around every request have other options`
    : message
  return [
    ...operations,
    ...sections.map(
      ([protocol]): ApiChange => ({
        ...{ level: 'risky', scope: protocol, message: around },
        ...{ now: ['middlewares'], was: ['middlewares'] },
      }),
    ),
  ]
}

const NO_PLUGINS: OperationSettings = { policies: [], middlewares: [] }

function partsOf(
  before: OperationSettings = NO_PLUGINS,
  after: OperationSettings = NO_PLUGINS,
): readonly string[] {
  const auth = ({ auth: own }: OperationSettings): string =>
    own === undefined ? 'its own permission' : own === false ? 'nothing' : list(own.scope ?? [])
  return [
    ...(isDeepStrictEqual(before.auth, after.auth)
      ? []
      : [`it requires ${auth(after)} instead of ${auth(before)}`]),
    ...(['policies', 'middlewares'] as const).flatMap(key => {
      if (isDeepStrictEqual(before[key], after[key])) return []
      const [old, own] = [list(before[key].map(nameOf)), list(after[key].map(nameOf))]
      return [old === own ? `other options of ${own}` : `${LABELS[key]} ${own} instead of ${old}`]
    }),
  ]
}

/** Files whose content has changed: only people can tell what that means to clients. */
function compareFiles(before: CodeVersion, after: CodeVersion): readonly ApiChange[] {
  const both = after.files.filter(file => before.files.includes(file))
  return both
    .filter(
      file => readFileSync(join(before.root, file), 'utf8') !== readFileSync(join(after.root, file), 'utf8'),
    )
    .flatMap(file => {
      const uses = usesOf(file, after)
      return (['rest', 'graphql'] as const)
        .filter(protocol => uses[protocol].length > 0)
        .map(
          (protocol): ApiChange => ({
            ...{ level: 'risky', scope: protocol, now: null, was: null },
            message: `${file} has changed, which decides on ${uses[protocol].join(', ')}`,
            module: { file, line: firstDifference(file, before, after), version: 'now' },
          }),
        )
    })
}

type Uses = Readonly<Record<'rest' | 'graphql', readonly string[]>>

const MODULE = /^(policies|middlewares|extensions)\/(.+?)\.[mc]?[jt]s$/

/** What requests a file of code decides on. Files outside the three folders may be imported by any of them. */
function usesOf(file: string, version: CodeVersion): Uses {
  const [, folder, name = ''] = MODULE.exec(file) ?? []
  const { settings } = version
  if (folder === undefined) return { rest: ['what imports it'], graphql: ['what imports it'] }
  if (folder === 'extensions') {
    const source = `extensions/${name}`
    const own = routesOf(version).filter(route => route.source === source)
    const adds = version.app.graphql.uses.some(({ by }) => by === source)
    const rest = own.map(route => route.name)
    return {
      rest: rest.length === 0 && !adds ? ['events or documents'] : rest,
      graphql: adds ? ['its part of the schema'] : [],
    }
  }
  const key = folder === 'policies' ? 'policies' : 'middlewares'
  const around = key === 'middlewares' && settings.middlewares.some(use => use.name === name)
  const configured = (operations: Readonly<Record<string, OperationSettings>>) => [
    ...(around ? ['every request'] : []),
    ...Object.keys(operations).filter(each => operations[each]?.[key].some(use => use.name === name)),
  ]
  const routes = routesOf(version).filter(({ options }) => options[key].includes(name))
  return {
    rest: [...configured(settings.routesConfig), ...routes.map(route => route.name)],
    graphql: configured(settings.resolversConfig),
  }
}

function firstDifference(file: string, before: CodeVersion, after: CodeVersion): number {
  const [old, own] = [before, after].map(({ root }) => readFileSync(join(root, file), 'utf8').split('\n'))
  const at = own?.findIndex((line, index) => line !== old?.[index]) ?? 0
  return Math.max(0, at) + 1
}

/** The line of a module, named without its extension, that contains a text; else its first. */
export function findText(
  { root, files }: CodeVersion,
  source: string,
  text: string,
): { readonly file: string; readonly line: number } {
  const file = files.find(each => each.replace(/\.[mc]?[jt]s$/, '') === source)
  if (file === undefined) return { file: source, line: 1 }
  const line = readFileSync(join(root, file), 'utf8')
    .split('\n')
    .findIndex(each => each.includes(text))
  return { file, line: Math.max(0, line) + 1 }
}
