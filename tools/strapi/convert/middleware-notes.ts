import { ticked } from '../../../core/base/text.ts'
import {
  isCode,
  isLiteralList,
  isMapping,
  type LiteralValue,
  scriptPlace,
  textAt,
  toJson,
  UNKNOWN_KEYS,
  valueAt,
} from '../read/literal-value.ts'
import type { StrapiConfig } from '../read/strapi-project.ts'
import { lost, type Note } from '../yaml-document.ts'
import { corsCredentials } from './to-server.ts'
import { middleware } from './to-settings.ts'

interface MiddlewareOptions {
  /** Settings that are imported, or have no effect outside of Strapi. */
  readonly except: readonly string[]
  readonly successor?: string
}

/** Settings of Strapi's own middlewares in config/middlewares. */
export function middlewareSettings(config: StrapiConfig): readonly Note[] {
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
        successor: '`server.cors` has the origins, headers and `credentials`',
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
export const codeExcerpt = (text: string): string => {
  const line = text.replace(/\s+/g, ' ')
  return line.length > 60 ? `${line.slice(0, 60)}…` : line
}
