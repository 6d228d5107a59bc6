module.exports = ({ env }) => ({
  auth: { secret: env('ADMIN_JWT_SECRET', 'an-admin-secret') },
  apiToken: { salt: env('API_TOKEN_SALT', 'a-salt') },
  transfer: { token: { salt: env('TRANSFER_TOKEN_SALT', 'a-salt') } },
  serveAdminPanel: false,
})
