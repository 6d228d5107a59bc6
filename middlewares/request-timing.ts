import { defineMiddleware } from 'plinth'

interface Options {
  /** Milliseconds; what takes longer is told in the log. */
  readonly slowerThan?: number
}

const SLOW = 1000

/** Tells how long things take: a route in its answer's Server-Timing header, whatever is slow in the log. */
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
