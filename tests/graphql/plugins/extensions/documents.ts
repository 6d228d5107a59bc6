import { defineExtension } from 'plinth'

interface Restaurant {
  readonly name: string
  readonly rent?: number
}

/** Fields that answer with documents, and fields of generated types. */
export default defineExtension({
  register({ graphql, app }) {
    const restaurants = (status: 'draft' | 'published' = 'published') =>
      app.documents('restaurant').findMany({ status, sort: 'name' })
    graphql.use({
      typeDefs: `
        type Guide { best: RestaurantEntityResponse, all: [RestaurantEntity!]!, inside: Restaurant, many: [Restaurant] }
        extend type Query {
          nearest: RestaurantEntityResponse
          top: RestaurantEntityResponseCollection
          drafts: RestaurantEntityResponseCollection
          entity: RestaurantEntityResponse
          computed: RestaurantEntityResponse
          absent: RestaurantEntityResponse
          guide: Guide
        }
        extend type Restaurant {
          shout: String
          dear: Boolean
          siblings: RestaurantRelationResponseCollection
          distance: Float
        }
        extend type RestaurantEntity { self: String }
      `,
      resolvers: {
        Query: {
          nearest: async () => (await restaurants())[0],
          top: async () => restaurants(),
          drafts: async () => ({ data: await restaurants('draft') }),
          async entity() {
            const [{ documentId, ...attributes } = { documentId: '' }] = await restaurants()
            return { data: { id: documentId, attributes: { ...attributes, distance: 2.5 } } }
          },
          computed: async () => ({
            data: {
              name: 'Nowhere',
              owner: { name: 'Invented' },
              dishes: await app.documents('dish').findMany({ limit: 1, sort: 'name' }),
              opening: { id: 1, day: 'never' },
            },
          }),
          absent: () => null,
          async guide() {
            const all = await restaurants()
            return { best: all[0], all, inside: all[0], many: all }
          },
          restaurants: async (_parent, args, _context, _info, generated) =>
            generated?.({ ...args, sort: ['name:desc'] }),
        },
        Restaurant: {
          shout: (parent: Restaurant) => parent.name.toUpperCase(),
          dear: (parent: Restaurant) => (parent.rent ?? 0) > 100,
          siblings: async () => restaurants(),
        },
        RestaurantEntity: { self: (parent: Restaurant) => parent.name },
      },
      resolversConfig: Object.fromEntries(
        ['nearest', 'top', 'drafts', 'entity', 'computed', 'absent', 'guide'].map(name => [
          `Query.${name}`,
          { auth: false as const },
        ]),
      ),
    })
    graphql.use({
      resolversConfig: {
        'Restaurant.stars': {
          policies: [({ parent }) => (parent as Restaurant).name !== 'Cellar'],
          middlewares: [async next => Number(await next()) * 10],
        },
        'Dish.restaurant': { middlewares: [async next => (await next()) ?? null] },
        'Person.restaurants': {
          middlewares: [
            (next, parent, args) => next(parent, args.sort ? { ...args, pagination: { limit: 1 } } : args),
            (next, _parent, args) => {
              const { pagination } = args as { pagination: { start?: number } }
              if (pagination.start === 5) pagination.start = 0
              return next()
            },
          ],
        },
        'RestaurantEntity.attributes': { middlewares: [next => next()] },
        'RestaurantEntityResponseCollection.meta': { auth: { scope: ['api::dish.dish.find'] } },
        'Restaurant.dishes': { policies: [({ args }) => (args.sort as readonly string[]).length > 0] },
      },
    })
  },
})
