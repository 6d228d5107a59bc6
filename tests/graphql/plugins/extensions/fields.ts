import { defineExtension, PolicyError, type ResolverContext, ValidationError } from 'plinth'

/** The log in the state that all resolvers and middlewares of a request share. */
function trail({ state }: ResolverContext): string[] {
  const known = state.trail
  const steps: string[] = Array.isArray(known) ? known : []
  state.trail = steps
  return steps
}

/** Root fields: their authorization, middlewares and errors. */
export default defineExtension({
  register({ graphql }) {
    graphql.use({
      typeDefs: `
        extend type Query {
          plain: String
          open: String
          scoped: String
          scopedTwo: String
          scopedEmpty: String
          authEmpty: String
          declared: String
          order: [String]
          policy(kind: String!): String
          context: JSON
          argument(k: Int): Int
          replaced: String
          skipped: String
          thrown: String
          object: String
          missing: String
          fails(kind: String): String
        }
        extend type Mutation { touch(n: Int!): Int }
      `,
      resolvers: {
        Query: {
          plain: () => 'plain',
          open: () => 'open',
          scoped: () => 'scoped',
          scopedTwo: () => 'two',
          scopedEmpty: () => 'empty',
          authEmpty: () => 'empty',
          declared: () => 'declared',
          order(_parent, _args, context) {
            trail(context).push('resolver')
            return trail(context)
          },
          policy: () => 'passed',
          context: (parent, args, context, info) => ({
            parent: parent === undefined,
            args,
            user: context.state.user,
            path: context.http.request.path,
            field: info.fieldName,
          }),
          argument: (_parent, { k }) => k,
          replaced: () => 'the resolver',
          skipped: () => 'the resolver',
          thrown: () => 'the resolver',
          object: { resolve: () => 'of an object' },
          fails(_parent: unknown, { kind }: { kind: string }) {
            if (kind === 'plain') throw new Error('my own words')
            if (kind === 'type') throw new TypeError('internals')
            if (kind === 'own') throw Object.assign(new Error('secret of a library'), { code: 'X' })
            if (kind === 'text') throw 'a text'
            throw new ValidationError('not like this', { kind })
          },
        },
        Mutation: { touch: (_parent, { n }) => n },
      },
      resolversConfig: {
        'Query.open': { auth: false },
        'Query.scoped': { auth: { scope: ['api::restaurant.restaurant.find'] } },
        'Query.scopedTwo': {
          auth: { scope: ['api::restaurant.restaurant.find', 'api::person.person.find'] },
        },
        'Query.scopedEmpty': { auth: { scope: [] } },
        'Query.authEmpty': { auth: {} },
        'Query.order': {
          auth: false,
          middlewares: ['a', 'b'].map(name => async (next, parent, args, context, info) => {
            trail(context).push(`${name} in`)
            const found = await next(parent, args, context, info)
            return [...(found as string[]), `${name} out`]
          }),
          policies: ['p', 'q'].map(name => ({ context }) => {
            trail(context).push(name)
            return true
          }),
        },
        'Query.policy': {
          auth: false,
          policies: [
            async ({ args }) => {
              switch (args.kind) {
                case 'true':
                  return true
                case 'undefined':
                  return undefined
                case 'later':
                  return Promise.resolve(false)
                case 'throws':
                  throw new Error('inside of a policy')
                case 'details':
                  throw new PolicyError('Not today', { day: 'Sunday' })
                case 'hangs':
                  return new Promise<boolean>(() => {})
                default:
                  return JSON.parse(String(args.kind))
              }
            },
          ],
        },
        'Query.context': {
          auth: false,
          policies: [
            context => {
              if (!(context.is('graphql') && !context.is('rest') && context.kind === 'graphql')) return false
              context.http.response.setHeader(
                'X-Policy',
                `${context.info.parentType.name}.${context.info.fieldName}`,
              )
              return context.state === context.context.state && context.http === context.context.http
            },
          ],
        },
        'Query.argument': {
          auth: false,
          middlewares: [
            (next, parent, args, context, info) => next(parent, { k: Number(args.k) + 1 }, context, info),
          ],
        },
        'Query.replaced': { auth: false, middlewares: [async next => `not ${await next()}`] },
        'Query.skipped': { auth: false, policies: [() => false], middlewares: [() => 'the middleware'] },
        'Query.thrown': {
          auth: false,
          middlewares: [
            () => {
              throw new ValidationError('the middleware')
            },
          ],
        },
        'Query.object': { auth: false },
        'Query.missing': { auth: false },
        'Query.fails': { auth: false },
      },
    })
  },
})
