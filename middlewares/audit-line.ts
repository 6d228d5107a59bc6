import { defineMiddleware } from 'plinth'

/** Logs each request of a route: caller, action, document and status. */
export default defineMiddleware({
  route: (_options, { log }) => {
    return async ({ info, args, state, http: { request, response } }, next) => {
      await next()
      const who = state.user ? `user ${state.user.id}` : (state.token?.name ?? 'anonymous')
      const what = typeof args.documentId === 'string' ? `${info.route} ${args.documentId}` : info.route
      log.info(`audit: ${who} ${what} ${response.status} (${request.id})`)
    }
  },
})
