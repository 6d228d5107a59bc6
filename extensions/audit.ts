import { defineExtension } from 'plinth'

/** Records changes of restaurants and articles. Editors read them at /api/audit-entries. */
export default defineExtension({
  register({ documents, app }) {
    for (const event of ['restaurant.*', 'article.*'] as const)
      documents.on(event, async ({ id, name, documentId, locale, at }) => {
        const entries = app.documents('audit-entry')
        // Events are delivered at least once, so an event may already have its entry.
        if ((await entries.count({ filters: { event: id } })) > 0) return
        const data = { event: id, action: name, about: documentId, language: locale, at: at.toISOString() }
        await entries.create({ data })
      })
  },
})
