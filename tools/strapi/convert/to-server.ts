import { ticked, trimEndCharacter } from '../../../core/base/text.ts'
import type { Json } from '../../../core/project/settings/settings.ts'
import {
  codeAt,
  isFromEnvironment,
  isLiteralList,
  isMapping,
  type LiteralValue,
  scriptPlace,
  toJson,
  valueAt,
} from '../read/literal-value.ts'
import type { StrapiConfig, StrapiProject } from '../read/strapi-project.ts'
import { type DocumentEntry, entry, flow, lost, type Note, section } from '../yaml-document.ts'
import { fallbackOf, middleware, setting, sizeSetting } from './to-settings.ts'

/** The section `server`, converted from config/ without its code. In all sections, values that equal the default are left out. */
export function convertServer({ config }: StrapiProject): DocumentEntry | undefined {
  const { server } = config
  return section('server', [
    setting('host', valueAt(server, 'host') ?? env('HOST', '0.0.0.0'), '0.0.0.0'),
    setting('port', valueAt(server, 'port') ?? env('PORT', 1337), 1337),
    publicUrl(server),
    section(
      'cors',
      [
        flow('origins', corsOrigins(config)),
        flow('headers', corsHeaders(config)),
        flow('credentials', corsCredentials(config) === true ? true : undefined),
      ],
      corsNotes(config),
    ),
    sizeSetting(['server', 'bodyLimit'], valueAt(middleware(config, 'strapi::body'), 'jsonLimit')),
    toTrustProxy(valueAt(server, 'proxy')),
  ])
}

/** Strapi also takes a path behind a proxy, such as `/cms`. */
function publicUrl(server: LiteralValue): DocumentEntry | undefined {
  const declared = valueAt(server, 'url')
  const url = fallbackOf(declared)
  const local = `http://localhost:${usualPort(server)}`
  if (typeof url !== 'string' || url === '' || /^https?:\/\//.test(url))
    return setting('url', declared || undefined, local)
  const note = `\`${url}\` in Strapi has no host: \`server.url\` is the public address, such as \`https://cms.example.org/path\``
  const known = isFromEnvironment(declared) ? { ...declared, fallback: local } : local
  const found = setting('url', known)
  return found && { ...found, ...entry('url', found.value, [note]), source: scriptPlace(server, 'url') }
}

/** The port without variables. */
function usualPort(server: LiteralValue): number {
  const port = Number(toJson(fallbackOf(valueAt(server, 'port'))) ?? 1337)
  return Number.isInteger(port) ? port : 1337
}

const env = (name: string, fallback: LiteralValue): LiteralValue => ({ kind: 'environment', name, fallback })

function toTrustProxy(declared: LiteralValue | undefined): DocumentEntry | undefined {
  const proxied = isMapping(declared) ? valueAt(declared, 'koa') : declared
  if (isFromEnvironment(proxied)) return setting('trustProxy', proxied, false)
  return flow('trustProxy', proxied === true ? true : undefined)
}

/** Headers that browsers may send in Strapi without a setting, and in Plinth. */
const ALWAYS_ALLOWED = ['content-type', 'authorization', 'origin', 'accept']

function corsHeaders(config: StrapiConfig): Json | undefined {
  const declared = valueAt(middleware(config, 'strapi::cors'), 'headers')
  const headers =
    typeof declared === 'string' ? declared.split(',').map(each => each.trim()) : toJson(declared)
  if (!Array.isArray(headers)) return undefined
  const more = headers.map(String).filter(name => !ALWAYS_ALLOWED.includes(name.toLowerCase()))
  return more.length === 0 ? undefined : more
}

/** Browsers may send credentials from listed origins only. undefined: Strapi's setting has no counterpart. */
export function corsCredentials(config: StrapiConfig): boolean | undefined {
  const declared = valueAt(middleware(config, 'strapi::cors'), 'credentials')
  if (declared === false) return false
  return declared === true && corsOrigins(config) !== undefined ? true : undefined
}

function corsOrigins(config: StrapiConfig): Json | undefined {
  const declared = fallbackOf(valueAt(middleware(config, 'strapi::cors'), 'origin'))
  const items = isLiteralList(declared) ? declared.map(fallbackOf) : [declared]
  const origins = items.flatMap(item =>
    typeof item === 'string' ? item.split(',').map(each => trimEndCharacter(each.trim(), '/')) : [],
  )
  const isKnown = items.every(item => typeof item === 'string' || item === undefined)
  return !isKnown || origins.length === 0 || origins.includes('*') ? undefined : origins
}

/** Variables of origins: a list has no variables here. */
function originVariables(declared: LiteralValue | undefined): readonly string[] {
  const items = isLiteralList(declared) ? declared : [declared]
  return items.filter(isFromEnvironment).map(({ name }) => name)
}

function corsNotes(config: StrapiConfig): readonly Note[] {
  const cors = middleware(config, 'strapi::cors')
  const declared = valueAt(cors, 'origin')
  if (declared === undefined || toJson(declared) !== undefined) return []
  const place = codeAt(declared)?.place ?? scriptPlace(cors, 'origin') ?? 'config/middlewares'
  const variables = ticked(originVariables(declared))
  const text =
    corsOrigins(config) === undefined
      ? 'config/middlewares says the origins by code or a variable: name them here, or all may call'
      : `origins were in variables, of which only the fallbacks were read (${variables}): name them here`
  return [lost(text, place)]
}
