import { didYouMean } from '../../base/nearest.ts'
import type { ResolverTerms } from '../../plugins/services/graphql-service.ts'
import { type BoundResolver, bindResolver, type RouteBinding } from '../../plugins/services/rest-service.ts'
import type { Settings } from '../../project/settings/settings.ts'
import { extensionFault, type GraphqlFault, projectFault } from './check-definitions.ts'
import type { ExtensionPart } from './extension-part.ts'

export interface ConfigTerms {
  readonly settings: Pick<Settings, 'resolversConfig'>
  readonly parts: readonly ExtensionPart[]
  /** The schema's fields, as `<Type>.<field>`. */
  readonly fields: ReadonlySet<string>
  readonly binding: RouteBinding
  /** True for fields of another format that the project serves. */
  isElsewhere(coordinate: string): boolean
}

/** Collects resolversConfig of project.yaml and extensions; each field may be configured once. */
export function collectConfig(terms: ConfigTerms): {
  readonly config: ReadonlyMap<string, BoundResolver>
  readonly faults: readonly GraphqlFault[]
} {
  const config = new Map<string, BoundResolver>()
  const faults: GraphqlFault[] = []
  const origins = new Map<string, string>()
  for (const each of configEntries(terms)) {
    const { coordinate, by } = each
    if (!terms.fields.has(coordinate) && terms.isElsewhere(coordinate)) continue
    const origin = origins.get(coordinate)
    const bound = origin === undefined ? bind(each, terms) : `${origin} configures it already`
    if (typeof bound === 'string') faults.push(toFault(each, bound))
    else config.set(coordinate, bound)
    origins.set(coordinate, origin ?? by)
  }
  return { config, faults }
}

interface ConfigEntry {
  readonly coordinate: string
  readonly by: string
  readonly terms: ResolverTerms
  readonly isDeclared: boolean
}

/** Extensions first, so that a duplicate is reported at its position in project.yaml. */
const configEntries = ({ settings, parts }: ConfigTerms): readonly ConfigEntry[] => [
  ...parts.flatMap(({ by, config }) =>
    [...config].map(([coordinate, terms]) => ({ coordinate, by, terms, isDeclared: false })),
  ),
  ...Object.entries(settings.resolversConfig).map(([coordinate, terms]) => ({
    coordinate,
    by: 'project.yaml',
    terms,
    isDeclared: true,
  })),
]

/** The bound configuration, or a message why it is invalid. */
function bind({ coordinate, terms }: ConfigEntry, { fields, binding }: ConfigTerms): BoundResolver | string {
  if (!fields.has(coordinate)) return `no field of the schema has this name${didYouMean(coordinate, fields)}`
  try {
    return bindResolver(terms, binding)
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

const toFault = ({ coordinate, by, isDeclared }: ConfigEntry, message: string): GraphqlFault =>
  isDeclared
    ? projectFault(['resolversConfig', coordinate], `\`${coordinate}\`: ${message}`)
    : extensionFault(by, `resolversConfig \`${coordinate}\`: ${message}`)
