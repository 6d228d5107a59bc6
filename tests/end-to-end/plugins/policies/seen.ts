import { definePolicy } from 'plinth'

/** Reports its input on demand. */
export default definePolicy((context, config, app) => {
  if (context.args.seen === undefined || context.kind !== 'rest') return true
  const { state, info, http, args } = context
  const seen = {
    app: [app.name, context.app === app, context.is('rest'), context.is('graphql')],
    config,
    user: state.user,
    token: state.token,
    role: state.role,
    may: [state.ability.can('find', 'note'), state.ability.can('delete', 'note')],
    info,
    method: http.request.method,
    args,
    left: state.left ?? null,
  }
  http.response.setHeader('X-Seen', JSON.stringify(seen))
  return true
})
