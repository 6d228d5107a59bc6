import { defineExtension, type RestContext } from 'plinth'

/** GET /api/reports/dishes: count and average price of vegetarian and other dishes, for those who may update dishes. */
export default defineExtension({
  register({ rest }) {
    rest.route('GET', '/reports/dishes', dishReport, { auth: { scope: ['api::dish.dish.update'] } })
  },
})

/** Reads of Sequelize know no permissions: the route requires one. */
async function dishReport({ app: { models, sequelize } }: RestContext) {
  const { fn, col } = sequelize.Sequelize
  const data = await models.dish?.findAll({
    attributes: ['vegetarian', [fn('count', col('id')), 'dishes'], [fn('avg', col('price')), 'averagePrice']],
    group: ['vegetarian'],
    order: ['vegetarian'],
    raw: true,
  })
  return { data }
}
