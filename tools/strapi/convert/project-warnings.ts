import { ticked } from '../../../core/base/text.ts'
import {
  codeAt,
  isCode,
  isFromEnvironment,
  isLiteralList,
  isMapping,
  type LiteralValue,
  mappingAt,
  scriptPlace,
  textAt,
  toJson,
  UNKNOWN_KEYS,
  type UnevaluatedCode,
  valueAt,
} from '../read/literal-value.ts'
import type { StrapiFacts } from '../read/read-facts.ts'
import type { OwnCode, StrapiConfig, StrapiProject } from '../read/strapi-project.ts'
import { lost, type Note } from '../yaml-document.ts'
import { codeNote } from './code-notes.ts'
import { corsCredentials } from './to-server.ts'
import { GRAPHQL, middleware } from './to-settings.ts'

/** What Strapi's admin panel keeps in the database, and Plinth has elsewhere. */
export const panelNotes = ({ providers, mails, webhooks }: StrapiFacts): readonly Note[] =>
  [
    ...(providers.length === 0
      ? []
      : [
          `users sign in at ${ticked(providers)} in Strapi: name them in \`auth.providers\` (docs/identity.md, Sign-in at a provider). No user is linked to an account there by an address: those who are imported set a password by the mail of \`/api/auth/forgot-password\``,
        ]),
    ...(mails.length === 0
      ? []
      : [
          `the texts of the account mails ${ticked(mails)} did not come over: write them in mails/ (docs/mail.md, Account mails)`,
        ]),
    ...webhooks.map(
      name =>
        `the webhook \`${name}\` did not come over: an extension sends it (docs/recipes.md, Webhook sender)`,
    ),
  ].map(text => lost(text))

/** The converted settings, by module of config/. */
const LOOKED_FOR: readonly (readonly [module: keyof StrapiConfig, ...way: string[]])[] = [
  ['server', 'host'],
  ['server', 'port'],
  ['server', 'url'],
  ['server', 'proxy'],
  ['server', 'dirs', 'public'],
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
  ['plugins', 'email', 'config', 'settings', 'defaultFrom'],
]

/** Settings whose defaults neither hide content nor open it. */
const HARMLESS: ReadonlySet<string> = new Set([
  ...[
    'host',
    'port',
    'url',
    'proxy',
    'graphql.config.playgroundAlways',
    'users-permissions.config.jwt.expiresIn',
    'email.config.settings.defaultFrom',
  ],
])

/** Settings in config/ that cannot be evaluated without running code. */
export function configNotes({ config }: StrapiProject): readonly Note[] {
  const settings = LOOKED_FOR.map(([module, ...way]): readonly [string, UnevaluatedCode | undefined] => [
    unknownPart(config[module], way).join('.') || `config/${module}`,
    codeAt(config[module], ...way),
  ])
  const items = isLiteralList(config.middlewares) ? config.middlewares : [config.middlewares]
  const all = [
    ...settings,
    ...LOOKED_FOR.flatMap(([module, ...way]) => replacements(config, [module, ...way])),
    ...entriesByCode(config.plugins).map(code => ['config/plugins', code] as const),
    ...items.map(each => ['middlewares', isCode(each) ? each : undefined] as const),
    ['bodyLimit', codeAt(middleware(config, 'strapi::body'), 'jsonLimit')] as const,
    ['maxFileSize', codeAt(middleware(config, 'strapi::body'), 'formidable', 'maxFileSize')] as const,
  ]
  const seen = new Set<string>()
  return all.flatMap(([name, code]) => {
    if (code === undefined || seen.has(code.place + code.text)) return []
    seen.add(code.place + code.text)
    const text = `\`${name}\` was not read: it is the result of code: \`${codeExcerpt(code.text)}\``
    return [{ kind: HARMLESS.has(name) ? 'remark' : 'lost', text, source: code.place }]
  })
}

/** Code behind a setting, or behind a mapping around it, that may replace it: `{ provider: 'local', ...(isLive && bucket) }`. */
const replacements = (
  config: StrapiConfig,
  [module, ...way]: (typeof LOOKED_FOR)[number],
): readonly (readonly [string, UnevaluatedCode])[] =>
  way.flatMap((key, index) => {
    const outer = valueAt(config[module], ...way.slice(0, index))
    const name = way.slice(0, index).join('.') || `config/${module}`
    return isMapping(outer) && outer.has(key)
      ? entriesByCode(outer, key).map(code => [name, code] as const)
      : []
  })

/** Entries of a mapping that code adds when Strapi runs; with a key only those behind it. */
function entriesByCode(declared: LiteralValue, key?: string): readonly UnevaluatedCode[] {
  const entries = isMapping(declared) ? [...declared] : []
  const behind = entries.slice(entries.findIndex(([name]) => name === key) + 1)
  return behind.flatMap(([name, value]) => (name.startsWith(UNKNOWN_KEYS) && isCode(value) ? [value] : []))
}

/** The path of what code decides: the setting, or a mapping around it that gets entries when Strapi runs. */
function unknownPart(declared: LiteralValue, way: readonly string[]): readonly string[] {
  const known = way.findIndex((key, index) => {
    const outer = valueAt(declared, ...way.slice(0, index))
    return !isMapping(outer) || !outer.has(key)
  })
  return known === -1 ? way : way.slice(0, known)
}

/** Settings of config/ that Plinth has elsewhere, or not at all. */
export const otherSettings = ({ config, ownCode, served }: StrapiProject): readonly Note[] => [
  ...servedNotes(served),
  ...cronNotes(config, ownCode),
  ...LEFT_SETTINGS.flatMap(([module, way, imported]) => leftSettings(config, [module, ...way], imported)),
  ...middlewareSettings(config),
  ...refreshNotes(config),
  ...variableNotes(config),
  ...mailNotes(config),
  ...fileTypeNotes(config),
  ...previewNotes(config),
]

/** Static files next to the uploads. */
function servedNotes(served: readonly string[]): readonly Note[] {
  if (served.length === 0) return []
  const more = served.length > 5 ? ` and ${served.length - 5} more` : ''
  return [
    lost(
      `Strapi served ${ticked(served.slice(0, 5))}${more} of its folder \`public\` at \`/\`: a proxy or a middleware with \`express\` can serve them`,
    ),
  ]
}

/** Types of files that Strapi refused. */
function fileTypeNotes({ plugins }: StrapiConfig): readonly Note[] {
  const declared = valueAt(plugins, 'upload', 'config', 'security')
  if (declared === undefined) return []
  const text =
    '`security` of `upload.config` refused files by their types: `upload.allowedTypes` refuses kinds of files'
  return [lost(text, scriptPlace(plugins, 'upload', 'config', 'security') ?? 'config/plugins')]
}

/** Pages that editors open from Strapi's panel to see a document. */
function previewNotes({ admin }: StrapiConfig): readonly Note[] {
  const declared = valueAt(admin, 'preview')
  if (declared === undefined || valueAt(declared, 'enabled') === false) return []
  const text =
    'code in config/admin made the addresses of `preview`: `console.preview` of a content-type has its address (docs/console.md, Layout)'
  return [{ kind: 'remark', text, source: scriptPlace(admin, 'preview') ?? 'config/admin' }]
}

/** Tasks in config/server itself; those of config/cron-tasks are files of custom code. */
function cronNotes({ server }: StrapiConfig, ownCode: readonly OwnCode[]): readonly Note[] {
  const cron = valueAt(server, 'cron')
  const tasks = valueAt(cron, 'tasks') ?? codeAt(cron)
  if (tasks === undefined || valueAt(cron, 'enabled') === false) return []
  if (ownCode.some(({ kind }) => kind === 'cron')) return []
  const place = codeAt(cron, 'tasks')?.place ?? scriptPlace(server, 'cron', 'tasks') ?? 'config/server'
  return [codeNote('cron', place, 'the tasks of `cron` in config/server')]
}

type SettingsModule = Exclude<keyof StrapiConfig, 'middlewares'>

/** Sections of config/, with the keys that are imported or have no effect without the admin panel. */
const LEFT_SETTINGS: readonly (readonly [SettingsModule, readonly string[], readonly string[]])[] = [
  ['api', [], ['rest', 'responses']],
  ['api', ['rest'], ['prefix', 'defaultLimit', 'maxLimit', 'withCount']],
  ['api', ['responses'], ['privateAttributes']],
  ['plugins', ['users-permissions', 'config'], ['jwt', 'jwtSecret', 'register', 'jwtManagement', 'sessions']],
  [
    'plugins',
    ['upload', 'config'],
    ['provider', 'providerOptions', 'sizeLimit', 'breakpoints', 'security', 'actionOptions'],
  ],
  ['plugins', ['email', 'config', 'settings'], ['defaultFrom', 'testAddress']],
  [
    'server',
    [],
    [
      ...['host', 'port', 'url', 'proxy', 'dirs', 'cron', 'app', 'admin', 'transfer', 'webhooks'],
      ...['emitErrors', 'absoluteUrl', 'logger'],
    ],
  ],
]

function leftSettings(
  config: StrapiConfig,
  [module, ...way]: readonly [SettingsModule, ...string[]],
  imported: readonly string[],
): readonly Note[] {
  const declared = mappingAt(config[module], ...way)
  const keys = [...declared.keys()].filter(key => !imported.includes(key) && !key.startsWith(UNKNOWN_KEYS))
  const [first] = keys
  if (first === undefined) return []
  const what = ticked(keys)
  const of = way.length === 0 ? '' : ` of \`${way.join('.')}\``
  const text = `without a counterpart: ${what}${of} in config/${module}`
  return [{ kind: 'remark', text, source: scriptPlace(declared, first) ?? `config/${module}` }]
}

function mailNotes({ plugins }: StrapiConfig): readonly Note[] {
  const email = valueAt(plugins, 'email')
  const declared = valueAt(email, 'config') ?? codeAt(email)
  if (declared === undefined) return []
  const provider = textAt(declared, 'provider')
  const what = provider === undefined ? 'its provider' : `the provider \`${provider}\``
  const source = codeAt(email)?.place ?? scriptPlace(plugins, 'email', 'config') ?? 'config/plugins'
  const text = `mails were sent by the plugin \`email\`, and ${what} did not come over: name the mail server in \`auth.mail.url\``
  return [{ kind: 'remark', text, source }]
}

/** The mode in which Strapi 5 renews tokens. */
function refreshNotes({ plugins }: StrapiConfig): readonly Note[] {
  const way = ['users-permissions', 'config', 'jwtManagement']
  const mode = valueAt(plugins, ...way)
  if (mode === undefined || mode === 'legacy-support') return []
  const text =
    '`jwtManagement`: in its mode `refresh` Strapi answered a `refreshToken` at sign-in, and had `auth/refresh`, `auth/logout` and `auth/sessions`. Here these paths answer 404, and tokens are valid for `auth.jwtExpiresIn`'
  return [lost(text, scriptPlace(plugins, ...way) ?? 'config/plugins')]
}

/** Lists that decide what is accepted or shown, and whose values are in a variable. */
const LISTS: readonly (readonly [keyof StrapiConfig, readonly string[], successor: string])[] = [
  ['plugins', ['users-permissions', 'config', 'register', 'allowedFields'], '`auth.register.allowedFields`'],
  ['api', ['responses', 'privateAttributes'], '`private: true` of the attributes'],
]

/** A list has no variable here: that of Strapi may have had other items than the fallback. */
const variableNotes = (config: StrapiConfig): readonly Note[] =>
  LISTS.flatMap(([module, way, successor]) => {
    const declared = valueAt(config[module], ...way)
    if (!isFromEnvironment(declared)) return []
    const text = `\`${way.at(-1)}\` was in the variable \`${declared.name}\`, of which only the fallback was read: write its items as ${successor}`
    return [lost(text, scriptPlace(config[module], ...way))]
  })

interface MiddlewareOptions {
  /** Settings that are imported, or have no effect outside of Strapi. */
  readonly except: readonly string[]
  readonly successor?: string
}

/** Settings of Strapi's own middlewares in config/middlewares. */
function middlewareSettings(config: StrapiConfig): readonly Note[] {
  const known = knownMiddlewares(config)
  const declared = isLiteralList(config.middlewares) ? config.middlewares : []
  const names = new Set(declared.flatMap(each => textAt(each, 'name') ?? []))
  const others = [...names].filter(name => name.startsWith('strapi::') && name !== IP && !known.has(name))
  return [
    ...[...known].flatMap(([name, options]) => settingsOf(config, name, options)),
    ...others.flatMap(name => settingsOf(config, name, { except: ['enabled'] })),
    ...addressNotes(config),
  ]
}

const knownMiddlewares = (config: StrapiConfig): ReadonlyMap<string, MiddlewareOptions> =>
  new Map<string, MiddlewareOptions>([
    ['strapi::security', { except: [], successor: '`server.securityHeaders` sends those of Plinth' }],
    [
      'strapi::cors',
      {
        except: [
          'origin',
          'enabled',
          ...(areHeadersImported(config) ? ['headers'] : []),
          ...(corsCredentials(config) === undefined ? [] : ['credentials']),
        ],
        successor: '`server.cors` has origins, headers, and `credentials` for listed origins',
      },
    ],
    [
      'strapi::body',
      {
        except: ['jsonLimit', 'textLimit', 'formidable', 'multipart', 'includeUnparsed', 'enabled'],
        successor: '`server.bodyLimit` bounds bodies, and forms without files have 56 KiB',
      },
    ],
    [
      'strapi::query',
      {
        except: ['strictNullHandling'],
        successor: 'a query has lists of up to 100 items and 20 levels of brackets',
      },
    ],
    [
      'strapi::responses',
      { except: [], successor: 'a middleware with `express` changes answers by their status' },
    ],
  ])

function settingsOf(
  config: StrapiConfig,
  name: string,
  { except, successor }: MiddlewareOptions,
): readonly Note[] {
  const declared = middleware(config, name)
  const code = isCode(declared) ? declared : undefined
  const keys = isMapping(declared)
    ? [...declared.keys()].filter(key => !except.includes(key) && !key.startsWith(UNKNOWN_KEYS))
    : []
  if (code === undefined && keys.length === 0) return []
  const what = code ? `\`${codeExcerpt(code.text)}\`` : ticked(keys)
  const source = code?.place ?? scriptPlace(declared, keys[0] ?? '') ?? 'config/middlewares'
  const instead = successor === undefined ? '' : `; ${successor}`
  return [{ kind: 'remark', text: `without a counterpart: ${what} of \`${name}\`${instead}`, source }]
}

const areHeadersImported = (config: StrapiConfig): boolean =>
  toJson(valueAt(middleware(config, 'strapi::cors'), 'headers')) !== undefined

const IP = 'strapi::ip'

/** Addresses that Strapi lets in or keeps out. */
function addressNotes(config: StrapiConfig): readonly Note[] {
  const declared: LiteralValue | undefined = middleware(config, IP)
  if (declared === undefined) return []
  const text =
    '`strapi::ip` let in or kept out addresses, and Plinth lets in all: a proxy or an `express` middleware can refuse them'
  return [
    lost(
      text,
      scriptPlace(declared, 'whitelist') ?? scriptPlace(declared, 'blacklist') ?? 'config/middlewares',
    ),
  ]
}

/** The beginning of code, in one line. */
const codeExcerpt = (text: string): string => {
  const line = text.replace(/\s+/g, ' ')
  return line.length > 60 ? `${line.slice(0, 60)}…` : line
}
