import { restrict } from '../access/restrict/restrict.ts'
import type { HttpAnswer, Responder } from '../faults/exchange.ts'
import { ALL_ROWS } from '../identity/users/user-values.ts'
import { everyField } from '../query/every-field.ts'
import { answer, refuse } from './answer.ts'
import { type EndpointVisit, openEndpoints } from './endpoint.ts'
import type { RestTerms } from './request-visit.ts'

/** The project's locales, a bare list (contract/rest.md 11). */
export const openLocales = (terms: RestTerms): Responder =>
  openEndpoints(
    {
      'i18n/locales': {
        GET: { subject: 'i18n', action: 'find', perform: visit => findLocales(visit, terms) },
      },
    },
    { ...terms, prefix: terms.settings.prefix },
  )

async function findLocales(visit: EndpointVisit, { model, documents }: RestTerms): Promise<HttpAnswer> {
  const { locale: type } = model.builtIn
  const take = { kind: 'many', page: { start: 0, limit: model.locales.length }, total: false } as const
  const selection = { ...everyField(type), populate: [] }
  const restricted = restrict({ ...ALL_ROWS, type, take, selection }, visit.caller)
  if (!restricted.ok) return refuse(restricted)
  const { text } = await documents.findMany(restricted.value, 'flat')
  const locales = JSON.parse(text) as readonly { readonly code?: string }[]
  // Which one is the default is the project's to say, not the row's.
  return answer(
    JSON.stringify(locales.map(locale => ({ ...locale, isDefault: locale.code === model.defaultLocale }))),
    visit,
  )
}
