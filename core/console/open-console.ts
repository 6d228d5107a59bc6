import type { Caller } from '../access/caller.ts'
import { type ConsoleView, consoleViewsOf } from '../access/console-views.ts'
import { openExplainer } from '../access/explain/explain.ts'
import { once } from '../base/memo.ts'
import { didYouMean } from '../base/nearest.ts'
import type { Database } from '../database/database.ts'
import { DatabaseFailure } from '../database/database-fault.ts'
import { examine } from '../doctor/examine.ts'
import type { SlowRead } from '../doctor/slow-reads.ts'
import { listFailedEvents } from '../events/outbox-rows.ts'
import { locationJson } from '../explain/report.ts'
import type { RolesProject } from '../explain/roles-project.ts'
import type { Path } from '../faults/diagnostic.ts'
import { fault, forbidden, RequestFault, unauthorized } from '../faults/fault.ts'
import type { HttpRequest, HttpResponse } from '../faults/http-exchange.ts'
import type { Identify } from '../identity/identify.ts'
import { type MigrationPlan, planMigration } from '../migrate/plan-migration.ts'
import type { Attribute, Component, ContentType, Holder, Model } from '../model/model.ts'
import { servesConsole } from '../openapi/open-openapi.ts'
import type { Project } from '../project/project.ts'
import { answerMethod } from '../rest/answer.ts'
import { type GeneratedResponder, wordsBelow } from '../rest/endpoint.ts'
import { requestParams } from '../rest/parse-query-string.ts'
import { describeHolders, describeMatrix } from './describe-permissions.ts'
import { maskOf } from './mask-values.ts'
import { explainRequest, type Simulate } from './simulation.ts'

export interface ConsoleOptions extends Omit<OperationsOptions, 'roles'> {
  readonly roles: Omit<RolesProject, 'explainer'>
  readonly identify: Identify
  readonly simulate: Simulate
}

type Params = Readonly<Record<string, unknown>>

interface ConsoleEndpoint {
  readonly view: ConsoleView
  /** The names of its parameters. */
  readonly parameters: readonly string[]
  perform(params: Params): Promise<unknown>
}

/**
 * `GET <prefix>/console/…`: what the views of the console show. A caller needs the view (`roles.<name>.console`); nothing is
 * computed before the first request, and nothing is written.
 */
export function openConsole(options: ConsoleOptions): GeneratedResponder {
  const { settings } = options.roles.project
  if (!servesConsole(settings.console, options.production)) return () => null
  const endpoints = endpointsOf(options)
  return (request, acting) => {
    const [, name = '', ...others] = wordsBelow(request.path, settings.rest.prefix) ?? []
    const endpoint = Object.hasOwn(endpoints, name) && others.length === 0 ? endpoints[name] : undefined
    if (!endpoint) return null
    if (request.method !== 'GET' && request.method !== 'HEAD')
      return answerMethod(request.method, 'HEAD, GET')
    request.route = `console.${name}`
    return answer({ request, acting, endpoint }, options)
  }
}

/** Milliseconds for which the result of `operations` is kept, so that many requests cost as much as one. */
const FRESH = 5_000

function endpointsOf(options: ConsoleOptions): Readonly<Record<string, ConsoleEndpoint>> {
  const roles = once((): RolesProject => {
    const { project, model, access } = options.roles
    return { ...options.roles, explainer: openExplainer(project, model, access) }
  })
  const mask = once(() => maskOf(options.roles.project))
  const model = once(() => describeModel(options.roles))
  const operations = keepBriefly(FRESH, () => describeOperations(options))
  return {
    model: { view: 'model', parameters: [], perform: async () => model() },
    permissions: {
      view: 'permissions',
      parameters: ['role'],
      perform: async ({ role }) =>
        role === undefined ? describeHolders(roles()) : describeMatrix(String(role), roles(), mask()),
    },
    explain: {
      view: 'permissions',
      parameters: ['role', 'user', 'method', 'path', 'body'],
      perform: params => explainRequest(params, { ...options, roles: roles(), mask: mask() }),
    },
    operations: { view: 'operations', parameters: [], perform: operations },
  }
}

/** Calls share a run and its result until it is older than `milliseconds`. A rejection is not kept. */
function keepBriefly<Value>(milliseconds: number, run: () => Promise<Value>): () => Promise<Value> {
  let kept: { readonly until: number; readonly value: Promise<Value> } | null = null
  return () => {
    if (kept === null || performance.now() > kept.until) {
      const value = run()
      kept = { until: performance.now() + milliseconds, value }
      value.catch(() => {
        if (kept?.value === value) kept = null
      })
    }
    return kept.value
  }
}

interface ConsoleCall {
  readonly request: HttpRequest
  readonly acting: Caller | undefined
  readonly endpoint: ConsoleEndpoint
}

async function answer(
  { request, acting, endpoint }: ConsoleCall,
  { identify, roles }: ConsoleOptions,
): Promise<HttpResponse> {
  const caller = acting ?? (await identify(request.headers.authorization))
  request.identified = caller
  const { view, parameters, perform } = endpoint
  if (!consoleViewsOf(caller, roles.project.settings).has(view)) throw refusal(caller, view)
  const params = requestParams(request)
  for (const name of Object.keys(params))
    if (!parameters.includes(name))
      throw new RequestFault(
        fault('validation', `unknown parameter \`${name}\`${didYouMean(name, parameters)}`, { key: name }),
      )
  const body = JSON.stringify({ data: await perform(params), meta: {} })
  return { status: 200, body, headers: { 'Cache-Control': 'private, no-store' } }
}

function refusal(caller: Caller, view: ConsoleView): RequestFault {
  if (caller.kind === 'public')
    return new RequestFault(unauthorized('Unauthorized', 'The views of the console are for signed-in users'))
  const { name } = caller.grants
  const reason =
    caller.kind === 'token' || caller.key
      ? 'The views of the console are for sessions of users, not for tokens and keys'
      : `The role \`${name}\` lacks the view \`${view}\`: add it to \`roles.${name}.console\` in project.yaml`
  return new RequestFault(forbidden(reason))
}

/** The content-types and components with their attributes, and the line of each in the project file. */
function describeModel({ model, project }: { readonly model: Model; readonly project: Project }) {
  const describe = (holder: Holder, path: Path) => ({
    uid: holder.uid,
    key: holder.key,
    name: holder.displayName,
    description: holder.description ?? null,
    location: locationJson(project.keyLocation(path)),
    attributes: [...holder.attributes.values()]
      .filter(({ system }) => !system)
      .map(attribute => ({
        ...describeAttribute(attribute),
        location: locationJson(project.keyLocation([...path, 'attributes', attribute.name])),
      })),
  })
  return {
    types: [...model.contentTypes.values()].map(type => ({
      ...describe(type, typePath(type)),
      kind: type.kind,
      builtIn: type.builtIn,
      draftAndPublish: type.draftAndPublish,
      localized: type.localized,
    })),
    components: [...model.components.values()].map(component =>
      describe(component, ['components', component.uid]),
    ),
  }
}

/** Of the built-in types only `user` has attributes of the file. */
const typePath = ({ builtIn, key }: ContentType): Path =>
  builtIn ? (key === 'user' ? ['user'] : []) : ['contentTypes', key]

function describeAttribute(attribute: Attribute) {
  const { name, required, localized } = attribute
  return {
    name,
    required,
    localized,
    private: attribute.private,
    unique: attribute.kind === 'scalar' && attribute.unique,
    ...typeOf(attribute),
  }
}

interface AttributeType {
  readonly type: string
  readonly relation?: string
  /** The uids that it leads to. */
  readonly targets: readonly string[]
  /** The attribute of the target that is the other side. */
  readonly counterpart?: string | null
}

function typeOf(attribute: Attribute): AttributeType {
  switch (attribute.kind) {
    case 'scalar':
      return { type: attribute.type, targets: [] }
    case 'relation':
      return {
        type: 'relation',
        relation: attribute.relation,
        targets: [attribute.target.uid],
        counterpart: attribute.counterpart?.name ?? null,
      }
    case 'component':
      return { type: 'component', targets: [attribute.component.uid] }
    case 'zone':
      return { type: 'dynamiczone', targets: uidsOf(attribute.components) }
    default:
      return { type: attribute.kind, targets: [] }
  }
}

const uidsOf = (components: readonly Component[]): readonly string[] => components.map(({ uid }) => uid)

export interface OperationsOptions {
  readonly roles: Pick<RolesProject, 'project' | 'model' | 'storage'>
  readonly database: Database
  readonly production: boolean
  /** The project's code, and where it applies. */
  readonly plugins: unknown
  /** Of this process since its start. */
  slowReads(): readonly SlowRead[]
  /** Removes secrets from texts of project code. */
  redact(text: string): string
}

/** Milliseconds that one part may take in the database. */
const PART_TIMEOUT = 5_000

/** Plugins, the pending migration, slow reads with advice, and failed events. One part that fails does not hide the others. */
export async function describeOperations(options: OperationsOptions) {
  const { roles, database, production, redact } = options
  const plan = await partOf(() => pendingPlan(options))
  const reads = options.slowReads()
  const settings = roles.project.settings
  const advice = await partOf(() =>
    examine({
      ...{ settings, production, workers: 1, database },
      ...{ model: roles.model, storage: roles.storage, analyze: false, tries: false },
      ...{ reads, plan: plan.value ?? { steps: [], refusals: [] } },
    }),
  )
  const events = await partOf(() => listFailedEvents(database))
  return {
    plugins: options.plugins,
    plan: plan.value && describePlan(plan.value),
    slowReads: reads,
    advice: advice.value,
    failedEvents: events.value?.map(event => ({ ...event, reason: redact(event.reason) })) ?? null,
    faults: [plan, advice, events].flatMap(({ message }) => message ?? []),
  }
}

const pendingPlan = ({ roles, database }: OperationsOptions): Promise<MigrationPlan> =>
  planMigration(database, roles.storage.tables, { countTimeout: PART_TIMEOUT })

const describePlan = ({ steps, refusals }: MigrationPlan) => ({
  steps: steps.map(({ weight, window, summary, notes, statements }) => ({
    ...{ weight, window, summary, notes, statements },
  })),
  refusals: refusals.map(({ code, message }) => ({ code, message })),
})

interface Part<Value> {
  readonly value: Value | null
  readonly message: string | null
}

async function partOf<Value>(read: () => Promise<Value>): Promise<Part<Value>> {
  try {
    return { value: await read(), message: null }
  } catch (error) {
    if (!(error instanceof DatabaseFailure)) throw error
    return { value: null, message: error.message }
  }
}
