import { defineMiddleware, NotFoundError } from 'plinth'

export default defineMiddleware({
  route: () => async (context, next) => {
    const { response, request } = context.http
    switch (context.args.middleware) {
      case 'throws':
        throw new TypeError('the inside of the middleware')
      case 'not-found':
        throw new NotFoundError('Nothing today', { today: true })
      case 'after':
        await next()
        throw new TypeError('the inside of the middleware')
      case 'twice':
        await next()
        return next()
      case 'twice-unheard':
        void next()
        void next()
        return undefined
      case 'unwaited':
        void next()
        return undefined
      case 'silent':
        return undefined
      case 'hangs':
        return new Promise(() => {})
      case 'answers':
        return response.send({ short: 'cut' }, { status: 203 })
      case 'text':
        return response.send('short', { type: 'text/plain; charset=utf-8' })
      case 'rewrites': {
        await next()
        const { data } = response.json() as { data: readonly { text: string }[] }
        return response.send({ texts: data.map(({ text }) => text) })
      }
      case 'narrows':
        request.search += '&filters[text]=One'
        return next()
      default:
        return next()
    }
  },
})
