import { Router } from 'express'
import { defineExtension, type MountedRequest } from 'plinth'

/** GET /api/feeds/:locale/articles.xml: the latest articles as an Atom feed, through an Express router. */
export default defineExtension({
  register({ rest }) {
    const router = Router()
    router.get('/:locale/articles.xml', async ({ params }, response) => {
      response.type('application/atom+xml').send(await feed(params.locale, response.locals.plinth))
    })
    rest.mount('/feeds', router, { auth: { scope: ['api::article.article.find'] } })
  },
})

/** The caller's permissions apply, as over REST. */
async function feed(locale: string, { app, state }: MountedRequest): Promise<string> {
  const articles = await app
    .documents('article')
    .as(state.ability)
    .findMany({ locale, status: 'published', sort: 'publishedAt:desc', limit: 20 })
  const entries = articles.map(
    ({ documentId, title, excerpt, publishedAt }) =>
      `<entry><id>urn:article:${documentId}</id><title>${escapeXml(title)}</title><summary>${escapeXml(excerpt)}</summary><updated>${publishedAt}</updated></entry>`,
  )
  return `<?xml version="1.0" encoding="utf-8"?><feed xmlns="http://www.w3.org/2005/Atom"><id>urn:articles:${escapeXml(locale)}</id><title>Articles</title>${entries.join('')}</feed>`
}

const escapeXml = (text: unknown): string =>
  String(text ?? '').replace(/[<>&'"]/g, character => `&#${character.charCodeAt(0)};`)
