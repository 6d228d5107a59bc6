import { defineMiddleware } from 'plinth'

/** Notes when it comes and goes, in the answer's header X-Trail. */
export default defineMiddleware<{ label: string }>({
  route:
    ({ label }) =>
    async ({ state, http }, next) => {
      const trail = Array.isArray(state.left) ? state.left : []
      state.left = trail
      trail.push(`${label} in`)
      await next()
      trail.push(`${label} out ${http.response.status}`)
      http.response.setHeader('X-Trail', trail.join(', '))
    },
})
