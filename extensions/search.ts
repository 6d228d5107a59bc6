import { defineExtension, type RestContext, ValidationError } from 'plinth'

/** The searched content types, each with the attribute that is the title of a result. */
const SEARCHED = [
  { uid: 'api::restaurant.restaurant', title: 'name' },
  { uid: 'api::dish.dish', title: 'name' },
  { uid: 'api::article.article', title: 'title' },
] as const

/** GET /api/search?q=soup searches several content types. */
export default defineExtension({
  register({ rest }) {
    rest.route('GET', '/search', search, {
      // Requires permission to find restaurants. Other types are searched if the caller may find them.
      auth: { scope: ['api::restaurant.restaurant.find'] },
      policies: [
        { name: 'plan-limit', config: { perHour: { public: 100, authenticated: 1000, editor: 1000 } } },
      ],
      middlewares: ['request-timing'],
    })
  },
})

async function search({ app, args: { q }, state }: RestContext) {
  if (typeof q !== 'string' || q.trim() === '') throw new ValidationError('q must be the text to search for')
  const visible = SEARCHED.filter(({ uid }) => state.ability.can('find', uid.split('.').at(-1) ?? ''))
  const found = await Promise.all(
    visible.map(async ({ uid, title }) => {
      // Applies the conditions and fields of the caller's permissions.
      const documents = app.documents(uid).as(state.ability)
      const matching = await documents.findMany({ _q: q, status: 'published', limit: 5 })
      return matching.map((document: Readonly<Record<string, unknown>>) => ({
        type: uid,
        documentId: document.documentId,
        title: document[title],
      }))
    }),
  )
  return { data: found.flat() }
}
