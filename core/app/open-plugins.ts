import { relative, sep } from 'node:path'
import { fullAccessGrants } from '../access/compile/compile-access.ts'
import { hintFor } from '../base/nearest.ts'
import { messageWithPlace } from '../base/project-frame.ts'
import { failed, ok, type Result } from '../base/result.ts'
import type { Diagnostic } from '../faults/diagnostic.ts'
import type { CompiledSchemas } from '../graphql/compile-schema.ts'
import type { FormatName } from '../graphql/formats/format.ts'
import type { DocumentFile, DocumentSurvey } from '../graphql/limits/survey-documents.ts'
import type { TrustedDocuments } from '../graphql/transport/trusted-documents.ts'
import type { Identify } from '../identity/identify.ts'
import type { FileStorage } from '../media/storage/file-storage.ts'
import { BUILT_IN_STORAGES, openStorage } from '../media/storage/open-storage.ts'
import type { ContentType, Model } from '../model/model.ts'
import { type Observer, SILENT } from '../observe/observation.ts'
import type { Plugins } from '../plugins/extension.ts'
import { type RegisteredPlugins, registerPlugins } from '../plugins/register.ts'
import type { GuardOptions, RouteAuthOptions } from '../plugins/route-guard.ts'
import type { PluginMail } from '../plugins/services/mail-api.ts'
import type { Project } from '../project/project.ts'
import type { GraphqlSettings } from '../project/settings/settings.ts'
import { findMountConflicts, findRouteConflicts, servedPaths } from '../rest/route-claims.ts'
import type { Blueprint } from './compile-app.ts'
import { printStartFault, type StartFault } from './start-fault.ts'

/** The registrations of all plugins, and the GraphQL schema if plugins or project.yaml extend it. */
export interface RegisteredApp extends RegisteredPlugins {
  /** By format; null: the schema is not extended. */
  readonly schemas: CompiledSchemas | null
  /** null: trusted documents are not configured. */
  readonly trusted: TrustedDocuments | null
}

/** Registers plugins before anything is opened. Fails with every reason why they cannot be used. */
export async function registerApp(
  { project, model, plugins }: Pick<Blueprint, 'project' | 'model' | 'plugins'>,
  observer: Observer,
  mail: PluginMail = NO_MAIL,
): Promise<Result<RegisteredApp, StartFault>> {
  const registered = await registerPlugins(plugins, {
    ...{ root: project.root, settings: project.settings },
    ...{ model, observer, mail },
  })
  if (!registered.ok) return failed(...registered.reasons.map(toStartFault))
  const storage = findStorageFault(project, registered.value)
  if (storage) return failed({ kind: 'files', diagnostics: [storage] })
  const { routes, mounts } = registered.value
  const served = servedPaths(project.settings)
  const conflicts = [
    ...findRouteConflicts(routes, { root: project.root, model, served }),
    ...findMountConflicts(mounts, routes, { root: project.root, model, served }),
  ]
  const schemas = await compileExtendedSchemas(project, registered.value)
  const faults = [...conflicts.map(toStartFault), ...(schemas.ok ? [] : schemas.reasons)]
  if (!schemas.ok || faults.length > 0) return failed(...faults)
  const trusted = await loadTrustedDocuments(project, registered.value, schemas.value)
  if (!trusted.ok) return failed({ kind: 'files', diagnostics: trusted.reasons })
  return ok(Object.freeze({ ...registered.value, schemas: schemas.value, trusted: trusted.value }))
}

/** `upload.provider` names a built-in storage or one of an extension. */
function findStorageFault(
  { settings: { upload }, location }: Project,
  { storages }: RegisteredPlugins,
): Diagnostic | null {
  const known = [...BUILT_IN_STORAGES, ...storages.keys()]
  if (known.includes(upload.provider)) return null
  const path = ['upload', 'provider']
  const message = `no extension registers the storage \`${upload.provider}\`${hintFor(upload.provider, known)}`
  return { code: 'unknown-storage', message, path, location: location(path) }
}

/** Opens the storage of files that the project selects. Fails if the code of an extension throws. */
export function openProjectStorage(
  { settings, root }: Project,
  { storages }: Pick<RegisteredPlugins, 'storages'>,
): Result<FileStorage, StartFault> {
  try {
    return ok(openStorage(settings.upload, root, storages))
  } catch (error) {
    const message = `the storage \`${settings.upload.provider}\` could not open: ${messageWithPlace(error, root)}`
    return failed(toStartFault(message))
  }
}

/** Opens the storage of files for a command. Extensions are registered only if the storage is not built in. */
export async function openCommandStorage(
  blueprint: Pick<Blueprint, 'project' | 'model' | 'plugins'>,
): Promise<Result<FileStorage, StartFault>> {
  const { project } = blueprint
  if (BUILT_IN_STORAGES.includes(project.settings.upload.provider))
    return openProjectStorage(project, { storages: new Map() })
  const registered = await registerApp(blueprint, SILENT)
  return registered.ok ? openProjectStorage(project, registered.value) : registered
}

/** For checks, which must not send mails. */
const NO_MAIL: PluginMail = {
  send: () => Promise.reject(new Error('app.mail sends nothing while a project is checked')),
}

const toStartFault = (message: string): StartFault => ({ kind: 'other', message })

/** For `plinth check`: extensions register as at a start, but are not bootstrapped. */
export async function checkPlugins(
  project: Project,
  model: Model,
  plugins: Plugins,
): Promise<readonly Diagnostic[]> {
  const registered = await registerApp({ project, model, plugins }, SILENT)
  const files = plugins.files.map(file => relative(project.root, file).split(sep).join('/'))
  return registered.ok ? [] : registered.reasons.flatMap(fault => toDiagnostics(fault, files))
}

/** The message begins with the name of the extension or middleware, which gives the diagnostic its file, and ends with its place. */
function toDiagnostics(fault: StartFault, files: readonly string[]): readonly Diagnostic[] {
  if (fault.kind === 'files') return fault.diagnostics
  const printed = printStartFault(fault)
  const [place = '', placed, number] = / \(at (\S+):(\d+)\)$/.exec(printed) ?? []
  const message = printed.slice(0, printed.length - place.length)
  const name = /^(?:extensions|middlewares)\/[a-z0-9/-]+/.exec(message)?.[0] ?? 'extensions'
  const file = placed ?? files.find(each => each.replace(/\.[mc]?[jt]s$/, '') === name) ?? name
  const line = Number(number ?? 1)
  return [{ code: 'bad-extension', message, path: [], location: { file, line, column: 1, source: '' } }]
}

/** null: no extension changes the schemas. They are then compiled on first use, so that a start loads no GraphQL library. */
async function compileExtendedSchemas(
  { settings, root, keyLocation }: Project,
  { graphql, app, binding }: RegisteredPlugins,
): Promise<Result<CompiledSchemas | null, StartFault>> {
  const isExtended = graphql.uses.length > 0 || Object.keys(settings.resolversConfig).length > 0
  if (!settings.graphql.enabled || !isExtended) return ok(null)
  const { compileGraphqlSchemas } = await import('../graphql/compile-schema.ts')
  const compiled = compileGraphqlSchemas(settings.graphql.endpoints, {
    model: app.model,
    shadow: graphql.shadow,
    generatesTypes: settings.graphql.config.shadowCRUD,
    entityId: settings.graphql.config.entityId,
    extensions: { uses: graphql.uses, app, settings, binding, root },
  })
  if (compiled.ok) return compiled
  const faults = compiled.reasons.flatMap(({ by, message, path }) =>
    path === null ? [toStartFault(`${by}: ${message}`)] : [],
  )
  const diagnostics = compiled.reasons.flatMap(({ message, path }) =>
    path === null ? [] : [{ code: 'bad-resolver-config', message, path, location: keyLocation(path) }],
  )
  return failed(...faults, ...(diagnostics.length > 0 ? [{ kind: 'files' as const, diagnostics }] : []))
}

/** Validates trusted documents at the start, against the extended or the generated schemas. */
async function loadTrustedDocuments(
  { settings, root, keyLocation }: Project,
  registered: RegisteredPlugins,
  added: CompiledSchemas | null,
): Promise<Result<TrustedDocuments | null, Diagnostic>> {
  const { enabled, config } = settings.graphql
  if (!enabled || config.trustedDocuments.folder === null) return ok(null)
  const { loadTrusted } = await import('../graphql/transport/trusted-documents.ts')
  const schemas = await servedSchemas(settings.graphql, registered, added)
  const location = keyLocation(['graphql', 'config', 'trustedDocuments', 'folder'])
  return loadTrusted({ root, config, schemas, location })
}

/** The schema of each format that endpoints serve, extended or generated. */
async function servedSchemas(
  settings: GraphqlSettings,
  { graphql, app }: RegisteredPlugins,
  added: CompiledSchemas | null,
) {
  const { compileGenerated } = await import('../graphql/compile-schema.ts')
  const generated = { model: app.model, settings, shadow: graphql.shadow }
  return [...new Set(Object.values(settings.endpoints))].map(
    format => (added?.get(format) ?? compileGenerated({ ...generated, format })).schema,
  )
}

/** Validates and measures a client's GraphQL documents (docs/doctor.md). */
export async function surveyClientDocuments(
  { project: { settings } }: Pick<Blueprint, 'project'>,
  registered: RegisteredApp,
  files: readonly DocumentFile[],
): Promise<DocumentSurvey> {
  const { surveyDocuments } = await import('../graphql/limits/survey-documents.ts')
  const schemas = await servedSchemas(settings.graphql, registered, registered.schemas)
  return surveyDocuments(files, { schemas, config: settings.graphql.config })
}

/** The relations that a valid GraphQL document follows, with their targets; empty for an invalid one. */
export async function followedLinks(
  { project: { settings } }: Pick<Blueprint, 'project'>,
  registered: RegisteredApp,
  { text, format }: { readonly text: string; readonly format: FormatName },
): Promise<ReadonlyMap<string, ContentType>> {
  const { findFollowedLinks } = await import('../graphql/limits/survey-documents.ts')
  const { configuredFormat } = await import('../graphql/formats/format.ts')
  const [schema] = await servedSchemas(
    { ...settings.graphql, endpoints: { '/': format } },
    registered,
    registered.schemas,
  )
  const { model } = registered.app
  if (!schema) return new Map()
  return findFollowedLinks(text, {
    schema,
    model,
    format: configuredFormat(format, settings.graphql.config.entityId),
  })
}

/** The running parts that the guards of routes need. */
interface GuardContext {
  readonly registered: RegisteredPlugins
  readonly identify: Identify
  readonly observer: Observer
}

/** The options of the guards of routes: auth, policies and middlewares. */
export function guardOptionsOf(
  { project, model, access }: Blueprint,
  { registered, identify, observer }: GuardContext,
): GuardOptions {
  const { roles, policyTimeout } = project.settings
  return {
    ...routeAuthOf({ project, model }),
    app: registered.app,
    identify,
    publicCaller: access.publicCaller,
    roleName: type => roles[type]?.name ?? type,
    observer,
    timeout: policyTimeout,
  }
}

/** Routes without a permission of their own admit signed-in users and full-access tokens (contract). */
export const routeAuthOf = ({
  project: { settings },
  model,
}: Pick<Blueprint, 'project' | 'model'>): RouteAuthOptions => ({
  everything: fullAccessGrants(model),
  isKnown: ({ kind, grants, key }) =>
    (kind === 'user' && !key?.isNarrow) ||
    kind === 'external' ||
    (kind === 'token' && settings.apiTokens[grants.name]?.type === 'full-access'),
})
