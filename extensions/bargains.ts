import { defineExtension } from 'plinth'

/** GraphQL: `{ bargains(below: 10) { data { attributes { label } } } }`, the dishes below a price. */
export default defineExtension({
  register({ graphql }) {
    graphql.use({
      typeDefs: `
        extend type Query { bargains(below: Float!): DishEntityResponseCollection }
        extend type Dish { label: String }
      `,
      resolvers: {
        Query: {
          // The caller's conditions and fields apply. Who may ask is in project.yaml, under resolversConfig.
          bargains: (_, { below }: { below: number }, { app, state }) =>
            app
              .documents('dish')
              .as(state.ability)
              .findMany({ filters: { price: { $lt: below } }, sort: 'price' }),
        },
        Dish: {
          label: ({ name, price }: Priced) => (price === null ? name : `${name}: ${price.toFixed(2)}`),
        },
      },
    })
  },
})

interface Priced {
  readonly name: string
  readonly price: number | null
}
