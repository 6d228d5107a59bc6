import { defineExtension } from 'plinth'

/** Keeps an entry of what becomes of restaurants and articles, which editors find at /api/audit-entries. */
export default defineExtension({
  register({ documents, app }) {
    for (const event of ['restaurant.*', 'article.*'] as const)
      documents.on(event, async ({ id, name, documentId, locale, at }) => {
        const entries = app.documents('audit-entry')
        // An event comes at least once, and perhaps again: it has one entry.
        if ((await entries.count({ filters: { event: id } })) > 0) return
        const data = { event: id, action: name, about: documentId, language: locale, at: at.toISOString() }
        await entries.create({ data })
      })
  },
})
