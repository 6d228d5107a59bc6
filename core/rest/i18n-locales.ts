import { restrict } from '../access/restrict/restrict.ts'
import type { HttpResponse } from '../faults/http-exchange.ts'
import { ALL_ROWS } from '../identity/users/user-values.ts'
import { everyField } from '../query/populate-nodes.ts'
import { answerJson } from './answer.ts'
import { type EndpointCall, type GeneratedResponder, openEndpoints } from './endpoint.ts'
import type { RestTerms } from './rest-call.ts'

/** The project's locales as a list without an envelope (reference/rest.md#11-locales). */
export const openLocales = (terms: RestTerms): GeneratedResponder =>
  openEndpoints(
    {
      'i18n/locales': {
        GET: { subject: 'i18n', action: 'find', perform: call => findLocales(call, terms) },
      },
    },
    { ...terms, prefix: terms.settings.prefix },
  )

async function findLocales(call: EndpointCall, { model, documents }: RestTerms): Promise<HttpResponse> {
  const { locale: type } = model.builtIn
  const take = { kind: 'many', page: { start: 0, limit: model.locales.length }, total: false } as const
  const selection = { ...everyField(type), populate: [] }
  const restricted = restrict({ ...ALL_ROWS, type, take, selection }, call.caller)
  const { text } = await documents.findMany(restricted, 'flat')
  const locales = JSON.parse(text) as readonly { readonly code?: string }[]
  // The project file decides which locale is the default, not the row.
  return answerJson(
    JSON.stringify(locales.map(locale => ({ ...locale, isDefault: locale.code === model.defaultLocale }))),
    call,
  )
}
