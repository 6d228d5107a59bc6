// Its panel would have to be built, and is not measured.
module.exports = {
  serveAdminPanel: false,
  autoOpen: false,
  auth: { secret: 'a-secret-for-the-benchmark-alone' },
  apiToken: { salt: 'a-salt-for-the-benchmark-alone' },
  transfer: { token: { salt: 'a-salt-for-the-benchmark-alone' } },
  secrets: { encryptionKey: 'a-key-for-the-benchmark-alone-00' },
}
