import { type Action, BUILT_IN_ACTIONS, isBuiltInSubject } from '../../access/actions.ts'
import { permissionScopes } from '../../access/permission-scopes.ts'
import { didYouMean, hintFor } from '../../base/nearest.ts'
import type { Diagnostic, Path } from '../../faults/diagnostic.ts'
import type { ContentType, Model } from '../../model/model.ts'
import type { Project } from '../../project/project.ts'
import type { Json, MiddlewareUse, OperationSettings, PolicyUse } from '../../project/settings/settings.ts'
import type { MiddlewareDefinition } from '../middleware.ts'
import type { PluginFault } from '../plugin-fault.ts'
import type { Plugins } from '../plugins.ts'
import { type ConfigSchemas, compileSchemas } from './config-schemas.ts'
import { FOLDERS } from './find-modules.ts'

export interface UseTerms {
  readonly project: Project
  readonly model: Model
  readonly plugins: Plugins
  /** `policy owns-document` → its file as shown: modules that are there, also those that could not be loaded. */
  readonly known: ReadonlyMap<string, string>
}

/** Everything that is wrong with what project.yaml says of plugins, each with its place. */
export async function checkUses(terms: UseTerms): Promise<readonly Diagnostic[]> {
  const schemas = await compileSchemas(terms.plugins, terms.known)
  const check: Check = { ...terms, schemas, scopes: [...permissionScopes(terms.model).keys()] }
  return [...schemas.faults, ...checkProject(check)]
}

interface Check extends UseTerms {
  readonly schemas: ConfigSchemas
  readonly scopes: readonly string[]
}

type Form = 'route' | 'resolver' | 'express'

function* checkProject(check: Check): Generator<Diagnostic> {
  const { settings } = check.project
  for (const [at, use] of settings.middlewares.entries())
    yield* checkMiddleware(use, { path: ['middlewares', at], form: 'express' }, check)
  for (const [route, operation] of Object.entries(settings.routesConfig)) {
    yield* checkRoute(route, check)
    yield* checkOperation(operation, { path: ['routesConfig', route], form: 'route' }, check)
  }
  for (const [resolver, operation] of Object.entries(settings.resolversConfig))
    yield* checkOperation(operation, { path: ['resolversConfig', resolver], form: 'resolver' }, check)
}

interface Place {
  readonly path: Path
  readonly form: Form
}

function* checkOperation(
  operation: OperationSettings,
  { path, form }: Place,
  check: Check,
): Generator<Diagnostic> {
  const scopes = operation.auth ? (operation.auth.scope ?? []) : []
  for (const [at, scope] of scopes.entries()) {
    if (check.scopes.includes(scope)) continue
    const message = `unknown permission \`${scope}\`${didYouMean(scope, check.scopes)}`
    yield diagnose('unknown-scope', message, [...path, 'auth', 'scope', at], check)
  }
  for (const [at, use] of operation.policies.entries())
    yield* checkPolicy(use, [...path, 'policies', at], check)
  for (const [at, use] of operation.middlewares.entries())
    yield* checkMiddleware(use, { path: [...path, 'middlewares', at], form }, check)
}

function* checkPolicy({ name, config }: PolicyUse, path: Path, check: Check): Generator<Diagnostic> {
  if (check.plugins.policies.has(name))
    yield* checkConfig(config, { kind: 'policy', name, path: [...path, 'config'] }, check)
  else if (!check.known.has(`policy ${name}`))
    yield diagnoseName('unknown-policy', unknown('policy', name, check), path, check)
}

function* checkMiddleware(
  { name, options }: MiddlewareUse,
  { path, form }: Place,
  check: Check,
): Generator<Diagnostic> {
  const middleware = check.plugins.middlewares.get(name)
  if (middleware) {
    if (!middleware[form])
      yield diagnoseName('wrong-middleware', lacks(middleware, form, nameFile(name, check)), path, check)
    yield* checkConfig(options, { kind: 'middleware', name, path: [...path, 'options'] }, check)
  } else if (!check.known.has(`middleware ${name}`))
    yield diagnoseName('unknown-middleware', unknown('middleware', name, check), path, check)
}

const nameFile = (name: string, { known }: Check): string => known.get(`middleware ${name}`) ?? name

function unknown(kind: 'policy' | 'middleware', name: string, { known }: Check): string {
  const lead = `${kind} `
  const names = [...known.keys()].filter(key => key.startsWith(lead)).map(key => key.slice(lead.length))
  const hint = didYouMean(name, names) || `: there is no ${FOLDERS[kind]}/${name}.ts`
  return `unknown ${kind} \`${name}\`${hint}`
}

const STANDS: Readonly<Record<Form, string>> = {
  route: 'round a route',
  resolver: 'round a resolver',
  express: 'round every request',
}

function lacks(middleware: MiddlewareDefinition, form: Form, file: string): string {
  const has = Object.keys(STANDS).filter(each => Object.hasOwn(middleware, each))
  const told = has.length === 0 ? '' : `, but ${has.map(each => `\`${each}\``).join(' and ')}`
  return `${file} cannot stand ${STANDS[form]}: it has no \`${form}\`${told}`
}

interface ConfigUse {
  readonly kind: 'policy' | 'middleware'
  readonly name: string
  readonly path: Path
}

function* checkConfig(given: Json, { kind, name, path }: ConfigUse, check: Check): Generator<Diagnostic> {
  const module = `${kind} ${name}`
  for (const misfit of check.schemas.checks.get(module)?.(given ?? {}) ?? []) {
    const where = misfit.path.length === 0 ? '' : ` \`${misfit.path.join('.')}\``
    const message = `${check.known.get(module) ?? module} does not take this${where}: ${misfit.message}`
    yield diagnose('bad-config', message, [...path, ...misfit.path], check)
  }
}

/** The names of content-types and the actions of declared ones were checked with the file. */
function* checkRoute(route: string, check: Check): Generator<Diagnostic> {
  const [subject = '', action = ''] = route.split('.')
  const type = [...check.model.contentTypes.values()].find(({ key, builtIn }) => key === subject && !builtIn)
  const builtIn = isBuiltInSubject(subject) ? BUILT_IN_ACTIONS[subject] : []
  const actions: readonly string[] = type ? routeActions(type) : builtIn
  if (actions.includes(action)) return
  const hint = hintFor(action, actions)
  const path = ['routesConfig', route]
  const message = `\`${subject}\` has no route \`${action}\`${hint}`
  yield { code: 'unknown-route', message, path, place: check.project.keyPlace(path) }
}

const routeActions = ({ kind }: ContentType): readonly Action[] =>
  kind === 'single' ? ['find', 'update', 'delete'] : ['find', 'findOne', 'create', 'update', 'delete']

const diagnose = (code: PluginFault, message: string, path: Path, { project }: Check): Diagnostic => ({
  code,
  message,
  path,
  place: project.place(path),
})

/** A use is its name alone, or a mapping with its name in it. */
const diagnoseName = (code: PluginFault, message: string, path: Path, { project }: Check): Diagnostic => ({
  code,
  message,
  path,
  place: project.place([...path, 'name']),
})
