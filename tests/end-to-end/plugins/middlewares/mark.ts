import { defineMiddleware } from 'plinth'

let count = 0

/** A global middleware: numbers requests in the order of the middlewares. */
export default defineMiddleware<{ header: string }>({
  optionsSchema: { type: 'object', properties: { header: { type: 'string' } }, required: ['header'] },
  express:
    ({ header }) =>
    (request, response, next) => {
      count += 1
      response.setHeader(header, String(count))
      const { searchParams } = new URL(request.url ?? '/', 'http://localhost')
      switch (searchParams.get('global')) {
        case 'throws':
          throw new Error('the inside of the middleware')
        case 'rejects':
          return Promise.reject(new Error('the inside of the middleware'))
        case 'hangs':
          return undefined
        case 'answers':
          response.end('{"from":"middleware"}')
          return undefined
        default:
          return next()
      }
    },
})
