import { codeAt, isCode, isList, type UnevaluatedCode } from '../read/literal-value.ts'
import type { OwnCode, StrapiConfig, StrapiProject } from '../read/strapi-project.ts'
import { lost, type Note } from '../yaml-document.ts'
import { GRAPHQL, middleware, ownMiddlewares } from './to-settings.ts'

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
export const codeNotes = ({ ownCode }: StrapiProject, api?: string): readonly Note[] =>
  ownCode.filter(code => code.api === api).map(({ kind, file }) => codeNote(kind, file, `${file} (${kind})`))

const codeNote = (kind: OwnCode['kind'], source: string, what: string): Note => ({
  kind: 'code',
  text: `${what} did not come over: ${SUCCESSORS[kind]}`,
  source,
  group: { name: kind, successor: SUCCESSORS[kind] },
})

/** Global middlewares of the project. */
export const middlewareNotes = (project: StrapiProject): readonly Note[] =>
  ownMiddlewares(project).map(({ name, place }) =>
    codeNote('middleware', place, `the middleware \`${name}\` of config/middlewares`),
  )

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
]

/** Settings in config/ that cannot be evaluated without running code. */
export function configNotes({ config }: StrapiProject): readonly Note[] {
  const settings = LOOKED_FOR.map(([module, ...way]): readonly [string, UnevaluatedCode | undefined] => [
    way.join('.') || module,
    codeAt(config[module], ...way),
  ])
  const items = isList(config.middlewares) ? config.middlewares : [config.middlewares]
  const all = [
    ...settings,
    ...items.map(each => ['middlewares', isCode(each) ? each : undefined] as const),
    ['bodyLimit', codeAt(middleware(config, 'strapi::body'), 'jsonLimit')] as const,
  ]
  const seen = new Set<string>()
  return all.flatMap(([name, code]) => {
    if (code === undefined || seen.has(code.place + code.text)) return []
    seen.add(code.place + code.text)
    return [lost(`\`${name}\` was not read: it is the result of code: \`${excerpt(code.text)}\``, code.place)]
  })
}

const excerpt = (text: string): string => {
  const line = text.replace(/\s+/g, ' ')
  return line.length > 60 ? `${line.slice(0, 60)}…` : line
}
