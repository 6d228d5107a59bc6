import { defineMiddleware } from 'plinth'

/** Writes a line of the log for each request of a route: who did what to which document, and whether it was done. */
export default defineMiddleware({
  route: (_options, { log }) => {
    return async ({ info, args, state, http: { request, response } }, next) => {
      await next()
      const who = state.user ? `user ${state.user.id}` : (state.token?.name ?? 'nobody')
      const what = typeof args.documentId === 'string' ? `${info.route} ${args.documentId}` : info.route
      log.info(`audit: ${who} ${what} ${response.status} (${request.id})`)
    }
  },
})
