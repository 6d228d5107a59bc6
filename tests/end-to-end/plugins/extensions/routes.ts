import {
  ApplicationError,
  defineExtension,
  ForbiddenError,
  NotFoundError,
  PolicyError,
  RateLimitError,
  UnauthorizedError,
  ValidationError,
} from 'plinth'

const ERRORS = [
  new ValidationError('Not so'),
  new ApplicationError('Not now'),
  new UnauthorizedError(),
  new ForbiddenError(),
  new PolicyError(),
  new NotFoundError(),
  new RateLimitError(),
]

export default defineExtension({
  register({ rest, app }) {
    rest.route('GET', '/notes/nearest', () => ({ nearest: true }), { auth: false })
    rest.route('GET', '/echo/:first/and/:second', ({ args }) => args, { auth: false })
    rest.route('GET', '/echo/one/and/:second', () => ({ special: true }), { auth: { scope: [] } })
    rest.route('POST', '/echo', async ({ http }) => http.request.json(), {
      auth: { scope: ['api::note.note.find'] },
      policies: [
        function onlyOnce(context) {
          return context.args.again === undefined
        },
      ],
      middlewares: [{ name: 'trail', options: { label: 'only' } }],
    })
    rest.route('GET', '/known', ({ state }) => ({ token: state.token, role: state.role }))
    rest.route('DELETE', '/nothing', () => undefined, { auth: false })
    rest.route(
      'GET',
      '/refused/:with',
      ({ args }) => {
        throw ERRORS.find(({ name }) => name === args.with)
      },
      { auth: false },
    )
    rest.route(
      'GET',
      '/wrong',
      () => {
        throw new ValidationError('Not so', { why: 'so' })
      },
      { auth: false },
    )
    rest.route(
      'GET',
      '/broken',
      () => {
        throw new Error('the inside of the handler')
      },
      { auth: false, policies: ['seen'] },
    )
    rest.route(
      'GET',
      '/plain',
      ({ http }) => http.response.send('plain', { type: 'text/plain', status: 202 }),
      { auth: false },
    )
    app.log.info('the routes are there')
  },
  bootstrap({ app }) {
    app.log.warn('the extension begins')
  },
  destroy({ app }) {
    app.log.error('the extension ends', new Error('for a reason'))
  },
})
