import { defineExtension, MailError } from 'plinth'

interface Tip {
  readonly text: string
  readonly owner: { readonly username: string; readonly email: string } | null
  readonly restaurant: { readonly name: string } | null
}

/** Thanks the reader who sent a tip, by the template mails/tip-thanks.md. */
export default defineExtension({
  register({ documents, app }) {
    documents.on('tip.create', async ({ documentId }) => {
      const found = await app.documents('tip').findOne({ documentId, populate: ['owner', 'restaurant'] })
      const { owner, restaurant, text } = (found ?? {}) as Partial<Tip>
      if (!owner) return
      const data = { name: owner.username, restaurant: restaurant?.name ?? 'the place', text: text ?? '' }
      await app.mail.send({ to: owner.email, template: 'tip-thanks', data }).catch((error: unknown) => {
        // A rejected handler is called again later, which helps only if the mail server is down.
        if (!(error instanceof MailError) || error.retryable) throw error
        app.log.warn({ documentId }, `The reader got no thanks: ${error.message}`)
      })
    })
  },
})
