module.exports = {
  'users-permissions': { config: { jwtSecret: 'a-secret-for-the-benchmark-alone' } },
  graphql: { config: { defaultLimit: 25, maxLimit: 100, depthLimit: 10 } },
}
