import { randomBytes } from 'node:crypto'
import { defineExtension } from 'plinth'

/** Gives each new order a number such as `2025-8F3A21C4`. */
export default defineExtension({
  register({ documents }) {
    documents.use(async (context, next) => {
      if (context.uid === 'api::order.order' && context.action === 'create')
        context.params.data = { ...context.params.data, number: newNumber() }
      return next()
    })
  },
})

const newNumber = (): string => `${new Date().getFullYear()}-${randomBytes(4).toString('hex').toUpperCase()}`
