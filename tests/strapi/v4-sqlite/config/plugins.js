module.exports = ({ env }) => ({
  'users-permissions': { config: { jwtSecret: env('JWT_SECRET', 'a-jwt-secret'), jwt: { expiresIn: '7d' } } },
  graphql: { enabled: false },
})
