import type { Caller, Grants } from '../access/caller.ts'
import { memoize, once } from '../base/memo.ts'
import type { HttpRequest } from '../faults/http-exchange.ts'
import type { Identify } from '../identity/identify.ts'
import { answerJson, answerMethod } from '../rest/answer.ts'
import type { GeneratedResponder } from '../rest/endpoint.ts'
import { isStrapi4Format } from '../rest/strapi4.ts'
import type { DescribedProject } from './describe-api.ts'
import { openReferencePage } from './reference-page.ts'

interface OpenapiTerms extends Omit<DescribedProject, 'isKnown'> {
  readonly isKnown: DescribedProject['isKnown']
  readonly identify: Identify
  readonly production: boolean
}

/** Names of attributes are information, as in introspection of GraphQL: in production the project has to allow it. */
export const servesOpenapi = (asked: boolean | undefined, production: boolean): boolean =>
  asked ?? !production

/**
 * `GET <prefix>/openapi.json`: what the caller's role or token may do; `<prefix>/reference`: a page that shows it. Nothing is made or loaded before the first request;
 * then one text per role and format is kept as long as the project is served.
 */
export function openOpenapi(terms: OpenapiTerms): GeneratedResponder {
  const { rest } = terms.settings
  if (!servesOpenapi(rest.openapi, terms.production)) return () => null
  const path = `${rest.prefix}/openapi.json`.toLowerCase()
  const textsOf = memoize((_: Grants) => new Map<string, Promise<string>>())
  const textFor = (caller: Caller, format: 'flat' | 'v4'): Promise<string> => {
    const texts = textsOf(caller.grants)
    const key = `${caller.kind} ${format}`
    const text = texts.get(key) ?? printFor(terms, caller, format)
    texts.set(key, text)
    return text
  }
  const openPage = once(() => {
    const page = { path: `${rest.prefix}/reference`, document: `${rest.prefix}/openapi.json` }
    return openReferencePage({ ...page, title: terms.settings.name })
  })
  return (request, acting) => {
    if (request.path.toLowerCase() !== path) return openPage()(request)
    if (request.method !== 'GET' && request.method !== 'HEAD')
      return answerMethod(request.method, 'HEAD, GET')
    return answerDescription({ request, acting }, terms, textFor)
  }
}

async function answerDescription(
  { request, acting }: { readonly request: HttpRequest; readonly acting: Caller | undefined },
  { identify, settings }: OpenapiTerms,
  textFor: (caller: Caller, format: 'flat' | 'v4') => Promise<string>,
) {
  request.route = 'openapi'
  const caller = acting ?? (await identify(request.headers.authorization))
  request.identified = caller
  const format = isStrapi4Format(request, settings.rest) ? 'v4' : 'flat'
  return answerJson(await textFor(caller, format), { request })
}

async function printFor(terms: OpenapiTerms, caller: Caller, format: 'flat' | 'v4'): Promise<string> {
  const { describeApi } = await import('./describe-api.ts')
  return JSON.stringify(describeApi(terms, caller, format))
}
