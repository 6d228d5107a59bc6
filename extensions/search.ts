import { defineExtension, type RestContext, ValidationError } from 'plinth'

/** What is searched, and the attribute that a find is shown by. */
const SEARCHED = [
  { uid: 'api::restaurant.restaurant', title: 'name' },
  { uid: 'api::dish.dish', title: 'name' },
  { uid: 'api::article.article', title: 'title' },
] as const

const MOST = 5

/** GET /api/search?q=soup: what matches, of several content-types at once. */
export default defineExtension({
  register({ rest }) {
    rest.route('GET', '/search', search, {
      // Whoever may find restaurants. Of the other types everybody finds what he may.
      auth: { scope: ['api::restaurant.restaurant.find'] },
      policies: [
        { name: 'plan-limit', config: { perHour: { public: 100, authenticated: 1000, editor: 1000 } } },
      ],
      middlewares: ['request-timing'],
    })
  },
})

async function search({ app, args: { q }, state }: RestContext) {
  if (typeof q !== 'string' || q.trim() === '') throw new ValidationError('q is what to look for')
  const visible = SEARCHED.filter(({ uid }) => state.ability.can('find', uid.split('.').at(-1) ?? ''))
  const found = await Promise.all(
    visible.map(async ({ uid, title }) => {
      // Within the caller's permissions: conditions and fields of his role hold here, too.
      const documents = app.documents(uid).as(state.ability)
      const matching = await documents.findMany({ _q: q, status: 'published', limit: MOST })
      return matching.map(document => ({
        type: uid,
        documentId: document.documentId,
        title: document[title],
      }))
    }),
  )
  return { data: found.flat() }
}
