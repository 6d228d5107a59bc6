module.exports = ({ env }) => ({
  'users-permissions': { config: { jwtSecret: env('JWT_SECRET'), jwt: { expiresIn: '7d' } } },
})
