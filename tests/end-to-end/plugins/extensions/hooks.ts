import { defineExtension } from 'plinth'

export default defineExtension({
  register({ documents, app }) {
    documents.use(async (context, next) => {
      const { data } = context.params as { data?: { text?: string } }
      if (context.action === 'create' && data?.text === 'hooked') context.params.data = { text: 'hooked!' }
      return next()
    })
    documents.on('note.create', async ({ documentId }) => {
      const note = await app.documents('note').findOne({ documentId })
      if (note?.text === 'hooked!') await app.documents('memo').create({ data: { text: 'heard hooked!' } })
    })
  },
  async bootstrap({ app }) {
    app.log.info(`there are ${await app.documents('note').count()} notes`)
  },
})
