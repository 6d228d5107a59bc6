import type { ProjectFile, ShadowCrud } from '../project-types.ts'
import type { GraphqlSettings, ShadowCrudDeclaration } from './settings.ts'
import { reconcileLimits } from './to-server-settings.ts'
import { toMilliseconds } from './units.ts'

type WrittenConfig = NonNullable<NonNullable<ProjectFile['graphql']>['config']>

export function toGraphql(written: ProjectFile['graphql'] = {}): GraphqlSettings {
  return {
    enabled: written.enabled ?? true,
    config: toConfig(written.config),
    shadowCRUD: mapValues(written.shadowCRUD ?? {}, toShadowCrud),
  }
}

function toConfig(written: WrittenConfig = {}): GraphqlSettings['config'] {
  const { serverOptions, limits, trustedDocuments, ...plain } = written
  return {
    endpoint: '/graphql',
    shadowCRUD: true,
    playgroundAlways: false,
    depthLimit: 10,
    ...plain,
    ...toPageLimits(written),
    serverOptions: toServerOptions(serverOptions),
    limits: toLimits(limits),
    trustedDocuments: { folder: null, only: false, ...trustedDocuments },
  }
}

function toPageLimits({ defaultLimit, amountLimit }: WrittenConfig) {
  const { usual, most } = reconcileLimits(
    { usual: defaultLimit, most: amountLimit },
    { usual: 10, most: 100 },
  )
  return { defaultLimit: usual, amountLimit: most }
}

function toServerOptions(
  written: WrittenConfig['serverOptions'] = {},
): GraphqlSettings['config']['serverOptions'] {
  const { cache = 'bounded', allowBatchedHttpRequests = true, introspection } = written
  return { cache, allowBatchedHttpRequests, ...(introspection !== undefined && { introspection }) }
}

const DEFAULT_COST = 100_000

function toLimits(written: WrittenConfig['limits'] = {}): GraphqlSettings['config']['limits'] {
  const { cost = {}, time = '10s', ...counts } = written
  const byRole = typeof cost === 'number' ? { default: cost } : { default: DEFAULT_COST, ...cost }
  return { aliases: 100, rootFields: 100, tokens: 5000, ...counts, cost: byRole, time: toMilliseconds(time) }
}

const toShadowCrud = ({ fields = {}, ...written }: ShadowCrud): ShadowCrudDeclaration => ({
  enabled: true,
  queries: true,
  mutations: true,
  actions: {},
  ...written,
  fields: mapValues(fields, field => ({ enabled: true, output: true, input: true, filters: true, ...field })),
})

const mapValues = <From, To>(
  map: Readonly<Record<string, From>>,
  change: (value: From) => To,
): Record<string, To> => Object.fromEntries(Object.entries(map).map(([key, value]) => [key, change(value)]))
