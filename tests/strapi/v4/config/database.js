module.exports = ({ env }) => ({
  connection: { client: 'postgres', connection: { connectionString: env('STRAPI_DATABASE_URL') }, pool: { min: 0, max: 4 } },
})
