import { defineMiddleware } from 'plinth'

interface Options {
  /** Seconds. */
  readonly maxAge: number
}

/** Allows browsers and proxies to cache public responses. Requests with credentials get no header. */
export default defineMiddleware<Options>({
  optionsSchema: {
    type: 'object',
    properties: { maxAge: { type: 'integer', minimum: 0 } },
    required: ['maxAge'],
    additionalProperties: false,
  },
  route:
    ({ maxAge }) =>
    async ({ http: { request, response } }, next) => {
      await next()
      if (response.status !== 200 || request.headers.authorization !== undefined) return
      response.setHeader('Cache-Control', `public, max-age=${maxAge}`)
    },
})
