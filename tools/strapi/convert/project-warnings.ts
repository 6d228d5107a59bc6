import { codeAt } from '../read/literal-value.ts'
import type { OwnCode, StrapiConfig, StrapiProject } from '../read/strapi-project.ts'
import { GRAPHQL } from './to-settings.ts'

/** The replacement for each kind of Strapi code. */
const SUCCESSORS: Readonly<Record<OwnCode['kind'], string>> = {
  controller: 'an extension can answer the route itself, or a middleware of `routesConfig` change its answer',
  service: 'extensions and policies reach documents by `app.documents`',
  route: 'an extension adds routes; `routesConfig` says what guards the generated ones',
  policy: 'a module in policies/, named in `routesConfig`',
  middleware: 'a module in middlewares/, named in `routesConfig` or in `middlewares`',
  lifecycle: 'an extension: a document middleware runs around a write, a listener hears of it afterwards',
  index: 'an extension with `register` or `start`',
  extension: 'an extension, or `user.attributes` for what users have besides',
  plugin: 'an extension',
  cron: 'a scheduler of your own',
}

/** The custom code of one API, or of the project itself if `api` is undefined. */
export const codeNotes = ({ ownCode }: StrapiProject, api?: string): readonly string[] =>
  ownCode
    .filter(code => code.api === api)
    .map(({ kind, file }) => `${file} (${kind}) did not come over: ${SUCCESSORS[kind]}`)

/** The converted settings, by module of config/. */
const LOOKED_FOR: readonly (readonly [module: keyof StrapiConfig, ...way: string[]])[] = [
  ['server', 'host'],
  ['server', 'port'],
  ['server', 'url'],
  ['server', 'proxy'],
  ['api', 'rest', 'prefix'],
  ['api', 'rest', 'defaultLimit'],
  ['api', 'rest', 'maxLimit'],
  ['api', 'rest', 'withCount'],
  ['api', 'responses', 'privateAttributes'],
  ['plugins', 'graphql', 'enabled'],
  ...GRAPHQL.map((key): readonly ['plugins', ...string[]] => ['plugins', 'graphql', 'config', key]),
  ['plugins', 'upload', 'config', 'provider'],
  ['plugins', 'upload', 'config', 'sizeLimit'],
  ['plugins', 'upload', 'config', 'providerOptions', 'sizeLimit'],
  ['plugins', 'users-permissions', 'config', 'jwt', 'expiresIn'],
  ['plugins', 'users-permissions', 'config', 'register', 'allowedFields'],
  ['middlewares'],
]

/** Settings in config/ that cannot be evaluated without running code. */
export function configNotes({ config }: StrapiProject): readonly string[] {
  const notes = LOOKED_FOR.flatMap(([module, ...way]) => {
    const code = codeAt(config[module], ...way)
    return code
      ? [
          `\`${way.join('.') || module}\` was not read: it is the result of code: \`${excerpt(code.text)}\` (${code.place})`,
        ]
      : []
  })
  return [...new Set(notes)]
}

const excerpt = (text: string): string => {
  const line = text.replace(/\s+/g, ' ')
  return line.length > 60 ? `${line.slice(0, 60)}…` : line
}
