import { realpath } from 'node:fs/promises'
import { BUILT_IN_ACTIONS, isBuiltInSubject } from '../../access/actions.ts'
import { permissionScopes } from '../../access/permission-scopes.ts'
import { didYouMean, hintFor } from '../../base/nearest.ts'
import { failed, ok, type Result } from '../../base/result.ts'
import { reportSlow } from '../../base/with-timeout.ts'
import type { Diagnostic, Path } from '../../faults/diagnostic.ts'
import type { Model } from '../../model/model.ts'
import type { CheckValue } from '../../project/grammar/json-schema.ts'
import type { Project } from '../../project/project.ts'
import type { Json, MiddlewareUse, OperationSettings, PolicyUse } from '../../project/settings/settings.ts'
import type { Extension, Plugins } from '../extension.ts'
import { type Middleware, type MiddlewareForm, missingForm } from '../middleware.ts'
import { moduleKind, type PluginSchema } from '../plugin-module.ts'
import type { Policy } from '../policy.ts'
import { diagnoseModule, FOLDERS, findModules, type PluginFault, type PluginModule } from './find-modules.ts'
import { moduleError, pathOfKey, wrongExport } from './module-fault.ts'
import { defaultExport, loadedFiles, type ModuleLoader, openLoader } from './module-loader.ts'

/** Is called with a sentence while a module is loaded for seconds: an `await` at its top may never end. */
export type ReportSlowModule = (message: string) => void

/** Loads a project's plugins and checks their uses in project.yaml. Fails with all faults of both. */
export async function loadPlugins(
  project: Project,
  model: Model,
  reportModule: ReportSlowModule = () => {},
): Promise<Result<Plugins, Diagnostic>> {
  const { known, ...found } = await findFiles(project)
  const { plugins, faults } = await loadModules(found.modules, project.root, reportModule)
  const schemas = await compileSchemas({ project, plugins, known })
  const uses = checkUses({ project, model, plugins, known, schemas })
  const all = [...found.faults, ...faults, ...uses]
  return all.length > 0 ? failed(...all) : ok(Object.freeze({ ...plugins, checks: schemas.checks }))
}

async function findFiles({ root }: Project) {
  // Imports lead to real paths: by another path, a plugin that another module imports would be loaded twice.
  const found = await findModules(await realpath(root))
  const known = new Map(found.modules.map(({ kind, name, shown }) => [`${kind} ${name}`, shown]))
  return { ...found, known }
}

interface LoadedPlugins {
  readonly plugins: Plugins
  readonly faults: readonly Diagnostic[]
}

/** Loads modules; returns those that could be loaded, and the faults of the others. */
export async function loadModules(
  modules: readonly PluginModule[],
  root: string,
  reportModule: ReportSlowModule = () => {},
): Promise<LoadedPlugins> {
  const policies = new Map<string, Policy>()
  const middlewares = new Map<string, Middleware>()
  const extensions = new Map<string, Extension>()
  const faults: Diagnostic[] = []
  if (modules.length > 0) {
    // The loader is loaded lazily: projects without plugins start faster.
    const loader = await openLoader(await realpath(root))
    // Sequential, so that side effects of modules happen in the same order at every start.
    for (const module of modules) {
      const exported = await reportSlow(
        () => importModule(loader, module),
        () => reportModule(`${module.shown} is still being loaded: an await at its top may never end`),
      )
      if (!exported.ok) faults.push(...exported.reasons)
      else if (isPolicy(exported.value)) policies.set(module.name, exported.value)
      else if (isMiddleware(exported.value)) middlewares.set(module.name, exported.value)
      else if (isExtension(exported.value)) extensions.set(module.name, exported.value)
    }
  }
  const files = loadedFiles(root)
  const plugins: Plugins = { policies, middlewares, extensions, files, checks: new Map() }
  return { plugins: Object.freeze(plugins), faults }
}

const isPolicy = (value: unknown): value is Policy => moduleKind(value) === 'policy'
const isMiddleware = (value: unknown): value is Middleware => moduleKind(value) === 'middleware'
const isExtension = (value: unknown): value is Extension => moduleKind(value) === 'extension'

async function importModule(
  loader: ModuleLoader,
  module: PluginModule,
): Promise<Result<unknown, Diagnostic>> {
  try {
    const exported = defaultExport(await loader.load(module.file))
    const kind = moduleKind(exported)
    return kind === module.kind ? ok(exported) : failed(wrongExport(module, module.kind, exported))
  } catch (error) {
    return failed(moduleError(module, error))
  }
}

interface CheckUsesOptions {
  readonly project: Project
  readonly model: Model
  readonly plugins: Plugins
  /** File of each module for messages, by `policy owns-document`; includes modules that could not be loaded. */
  readonly known: ReadonlyMap<string, string>
  readonly schemas: ConfigSchemas
}

/** All faults of uses of plugins in project.yaml, with their places. */
function checkUses(options: CheckUsesOptions): readonly Diagnostic[] {
  const check: UseCheck = { ...options, scopes: [...permissionScopes(options.model).keys()] }
  return [...options.schemas.faults, ...checkProject(check)]
}

interface UseCheck extends CheckUsesOptions {
  readonly scopes: readonly string[]
}

function* checkProject(check: UseCheck): Generator<Diagnostic> {
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

interface UsePlace {
  readonly path: Path
  readonly form: MiddlewareForm
}

function* checkOperation(
  operation: OperationSettings,
  { path, form }: UsePlace,
  check: UseCheck,
): Generator<Diagnostic> {
  const scopes = operation.auth ? (operation.auth.scope ?? []) : []
  for (const [at, scope] of scopes.entries()) {
    if (check.scopes.includes(scope)) continue
    const message = `unknown permission \`${scope}\`${didYouMean(scope, check.scopes)}`
    yield diagnoseUse('unknown-scope', message, [...path, 'auth', 'scope', at], check)
  }
  for (const [at, use] of operation.policies.entries())
    yield* checkPolicy(use, [...path, 'policies', at], check)
  for (const [at, use] of operation.middlewares.entries())
    yield* checkMiddleware(use, { path: [...path, 'middlewares', at], form }, check)
}

function* checkPolicy({ name, config }: PolicyUse, path: Path, check: UseCheck): Generator<Diagnostic> {
  if (check.plugins.policies.has(name))
    yield* checkConfig(config, { kind: 'policy', name, path: [...path, 'config'] }, check)
  else if (!check.known.has(`policy ${name}`)) yield unknownPlugin({ kind: 'policy', name, path }, check)
}

function* checkMiddleware(
  { name, options }: MiddlewareUse,
  { path, form }: UsePlace,
  check: UseCheck,
): Generator<Diagnostic> {
  const middleware = check.plugins.middlewares.get(name)
  if (middleware) {
    if (!middleware[form])
      yield diagnoseName(
        'wrong-middleware',
        missingForm(middleware, form, nameFile(name, check)),
        path,
        check,
      )
    yield* checkConfig(options, { kind: 'middleware', name, path: [...path, 'options'] }, check)
  } else if (!check.known.has(`middleware ${name}`))
    yield unknownPlugin({ kind: 'middleware', name, path }, check)
}

const nameFile = (name: string, { known }: UseCheck): string => known.get(`middleware ${name}`) ?? name

type KnownFiles = Pick<UseCheck, 'project' | 'known'>

interface NamedUse {
  readonly kind: 'policy' | 'middleware'
  readonly name: string
  readonly path: Path
}

function unknownPlugin({ kind, name, path }: NamedUse, { project, known }: KnownFiles): Diagnostic {
  const lead = `${kind} `
  const names = [...known.keys()].filter(key => key.startsWith(lead)).map(key => key.slice(lead.length))
  const hint = didYouMean(name, names) || `: there is no ${FOLDERS[kind]}/${name}.ts`
  return diagnoseName(`unknown-${kind}`, `unknown ${kind} \`${name}\`${hint}`, path, { project })
}

/** Names of plugins without a file: the faults of uses that are known without the model. */
export async function checkPluginNames(project: Project): Promise<readonly Diagnostic[]> {
  const { settings } = project
  const { known } = await findFiles(project)
  const unknown = (kind: NamedUse['kind'], uses: readonly { readonly name: string }[], path: Path) =>
    uses.flatMap(({ name }, at) =>
      known.has(`${kind} ${name}`)
        ? []
        : [unknownPlugin({ kind, name, path: [...path, at] }, { project, known })],
    )
  const operations = (['routesConfig', 'resolversConfig'] as const).flatMap(section =>
    Object.entries(settings[section]).map(([key, operation]) => ({ ...operation, path: [section, key] })),
  )
  return [
    ...unknown('middleware', settings.middlewares, ['middlewares']),
    ...operations.flatMap(({ policies, middlewares, path }) => [
      ...unknown('policy', policies, [...path, 'policies']),
      ...unknown('middleware', middlewares, [...path, 'middlewares']),
    ]),
  ]
}

interface ConfigUse {
  readonly kind: 'policy' | 'middleware'
  readonly name: string
  readonly path: Path
}

function* checkConfig(input: Json, { kind, name, path }: ConfigUse, check: UseCheck): Generator<Diagnostic> {
  const module = `${kind} ${name}`
  for (const misfit of check.schemas.checks.get(module)?.(input ?? {}) ?? []) {
    const where = misfit.path.length === 0 ? '' : ` \`${misfit.path.join('.')}\``
    const message = `${check.known.get(module) ?? module} does not take this${where}: ${misfit.message}`
    yield diagnoseUse('bad-config', message, [...path, ...misfit.path], check)
  }
}

/** Routes of declared content-types were checked with the project file. */
function* checkRoute(route: string, { project }: UseCheck): Generator<Diagnostic> {
  const [subject = '', action = ''] = route.split('.')
  const actions: readonly string[] | null = isBuiltInSubject(subject) ? BUILT_IN_ACTIONS[subject] : null
  if (actions === null || actions.includes(action)) return
  const path = ['routesConfig', route]
  const message = `\`${subject}\` has no route \`${action}\`${hintFor(action, actions)}`
  yield { code: 'unknown-route', message, path, location: project.keyLocation(path) }
}

const diagnoseUse = (code: PluginFault, message: string, path: Path, { project }: UseCheck): Diagnostic => ({
  code,
  message,
  path,
  location: project.location(path),
})

/** A use is a name, or a mapping with `name`. */
const diagnoseName = (
  code: PluginFault,
  message: string,
  path: Path,
  { project }: Pick<UseCheck, 'project'>,
): Diagnostic => ({
  code,
  message,
  path,
  location: project.location([...path, 'name']),
})

interface ConfigSchemas {
  /** By kind and name: `policy owns-document`. */
  readonly checks: ReadonlyMap<string, CheckValue>
  /** Invalid schemas. */
  readonly faults: readonly Diagnostic[]
}

type SchemaOptions = Pick<CheckUsesOptions, 'plugins' | 'known' | 'project'>

async function compileSchemas(options: SchemaOptions): Promise<ConfigSchemas> {
  const { policies, middlewares } = options.plugins
  const input = [
    ...Array.from(policies, ([name, { configSchema }]) =>
      givenSchema(`policy ${name}`, 'configSchema', configSchema),
    ),
    ...Array.from(middlewares, ([name, { optionsSchema }]) =>
      givenSchema(`middleware ${name}`, 'optionsSchema', optionsSchema),
    ),
  ].flat()
  return input.length === 0 ? NO_SCHEMAS : compileAll(input, options)
}

const NO_SCHEMAS: ConfigSchemas = { checks: new Map(), faults: [] }

interface GivenSchema {
  readonly module: string
  readonly key: string
  readonly schema: PluginSchema
}

const givenSchema = (
  module: string,
  key: string,
  schema: PluginSchema | undefined,
): readonly GivenSchema[] => (schema ? [{ module, key, schema }] : [])

/** Loads the schema compiler lazily. */
async function compileAll(
  input: readonly GivenSchema[],
  { known, project }: SchemaOptions,
): Promise<ConfigSchemas> {
  const { compileJsonSchema } = await import('../../project/grammar/json-schema.ts')
  const checks = new Map<string, CheckValue>()
  const faults: Diagnostic[] = []
  for (const { module, key, schema } of input) {
    const compiled = compileJsonSchema(schema)
    if (compiled.ok) checks.set(module, compiled.value)
    else {
      const message = `its \`${key}\` is no JSON Schema: ${compiled.reasons.join('; ')}`
      const location = pathOfKey(project.root, known.get(module) ?? module, key)
      faults.push(diagnoseModule('bad-module', message, location))
    }
  }
  return { checks, faults }
}
