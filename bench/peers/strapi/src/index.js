const PUBLIC = {
  article: ['find', 'findOne', 'create', 'update'],
  author: ['find', 'findOne'],
  category: ['find', 'findOne'],
}

/** The public may do what bench/project lets them. */
async function bootstrap({ strapi }) {
  const roles = strapi.db.query('plugin::users-permissions.role')
  const permissions = strapi.db.query('plugin::users-permissions.permission')
  const { id: role } = await roles.findOne({ where: { type: 'public' } })
  for (const [type, actions] of Object.entries(PUBLIC)) {
    for (const each of actions) {
      const action = `api::${type}.${type}.${each}`
      if (!(await permissions.findOne({ where: { action, role } })))
        await permissions.create({ data: { action, role } })
    }
  }
}

module.exports = { bootstrap }
