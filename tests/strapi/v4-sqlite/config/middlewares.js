module.exports = [
  'strapi::errors', 'strapi::security', 'strapi::cors', 'strapi::poweredBy',
  'strapi::query', { name: 'strapi::body', config: { jsonLimit: '2mb' } }, 'strapi::session', 'strapi::favicon', 'strapi::public',
]
