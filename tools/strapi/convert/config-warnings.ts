import {
  isFromEnvironment,
  isList,
  isMapping,
  type LiteralValue,
  toJson,
  valueAt,
} from '../read/literal-value.ts'
import type { StrapiConfig, StrapiProject } from '../read/strapi-project.ts'

/** The settings that are looked for, by the module of config/ that they stand in. */
const LOOKED_FOR: readonly (readonly [module: keyof StrapiConfig, ...way: string[]])[] = [
  ['server', 'host'],
  ['server', 'port'],
  ['server', 'url'],
  ['server', 'proxy'],
  ['api', 'rest', 'prefix'],
  ['api', 'rest', 'defaultLimit'],
  ['api', 'rest', 'maxLimit'],
  ['api', 'rest', 'withCount'],
  ['plugins', 'graphql', 'config'],
  ['plugins', 'upload', 'config', 'provider'],
  ['plugins', 'upload', 'config', 'sizeLimit'],
  ['plugins', 'users-permissions', 'config', 'jwt', 'expiresIn'],
  ['plugins', 'users-permissions', 'config', 'register', 'allowedFields'],
]

/** What config/ says in a way that only running it would tell. */
export function configNotes({ config }: StrapiProject): readonly string[] {
  const modules = Object.entries(config).filter(([, given]) => !isMapping(given) && !isList(given))
  const settings = LOOKED_FOR.filter(([module, ...way]) => isUnknown(valueAt(config[module], ...way)))
  return [
    ...modules.map(([module]) => `config/${module} was not read: it is code`),
    ...settings.map(
      ([module, ...way]) =>
        `config/${module} was not read for \`${way.join('.')}\`: it is code, or a variable without a fallback`,
    ),
  ]
}

/** A mapping is looked into key by key. */
function isUnknown(given: LiteralValue | undefined): boolean {
  if (given === undefined || isMapping(given)) return false
  return isFromEnvironment(given) ? toJson(given.fallback) === undefined : toJson(given) === undefined
}
