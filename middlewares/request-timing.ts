import { defineMiddleware } from 'plinth'

interface Options {
  /** Milliseconds. Slower requests are logged. */
  readonly slowerThan?: number
}

const SLOW = 1000

/** Measures requests: routes report the duration in the header Server-Timing, slow requests are logged. */
export default defineMiddleware<Options>({
  optionsSchema: {
    type: 'object',
    properties: { slowerThan: { type: 'number', minimum: 0 } },
    additionalProperties: false,
  },
  route: ({ slowerThan = SLOW }, { log }) => {
    return async ({ info, http }, next) => {
      const began = performance.now()
      await next()
      const took = performance.now() - began
      http.response.setHeader('Server-Timing', `route;dur=${took.toFixed(1)}`)
      if (took > slowerThan) log.warn(`${info.route} took ${took.toFixed(0)} ms`)
    }
  },
  express: ({ slowerThan = SLOW }, { log }) => {
    return (request, response, next) => {
      const began = performance.now()
      response.once('finish', () => {
        const took = performance.now() - began
        const path = request.url?.split('?')[0] ?? '/'
        if (took > slowerThan) log.warn(`${request.method} ${path} took ${took.toFixed(0)} ms`)
      })
      next()
    }
  },
})
