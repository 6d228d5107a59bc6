import { defineExtension } from 'plinth'

interface Box {
  readonly title: string
}

/** Types in nexus' style, and a plugin of it. */
export default defineExtension({
  register({ graphql, app }) {
    graphql.use(({ nexus }) => ({
      types: [
        nexus.objectType({
          name: 'Box',
          definition(t) {
            t.nonNull.string('title', { resolve: parent => `${(parent as Box).title}!` })
            t.field('restaurant', {
              type: 'RestaurantEntityResponse',
              resolve: () => app.documents('restaurant').findFirst({ status: 'published', sort: 'name' }),
            })
          },
        }),
        nexus.enumType({ name: 'Size', members: { SMALL: 1, LARGE: 2 } }),
        nexus.extendType({
          type: 'Query',
          definition(t) {
            t.field('box', {
              type: 'Box',
              args: {
                title: nexus.nonNull(nexus.stringArg()),
                size: nexus.arg({ type: 'Size', default: 2 }),
              },
              resolve: (_parent, { title, size }) => ({ title: `${title} ${typeof size} ${size}` }),
            })
          },
        }),
      ],
      plugins: [
        nexus.plugin({
          name: 'brackets',
          onCreateFieldResolver: (field: {
            readonly parentTypeConfig: { readonly name: string }
            readonly fieldConfig: { readonly name: string }
          }) =>
            field.fieldConfig.name === 'title' ||
            `${field.parentTypeConfig.name}.${field.fieldConfig.name}` === 'DishEntity.id'
              ? async (
                  ...input: readonly [unknown, unknown, unknown, unknown, (...inner: unknown[]) => unknown]
                ) => `[${await input[4](...input.slice(0, 4))}]`
              : undefined,
        }),
      ],
      resolversConfig: { 'Query.box': { auth: false } },
    }))
  },
})
