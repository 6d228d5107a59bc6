import { postgresAdapter } from '@payloadcms/db-postgres'
import { buildConfig } from 'payload'

// The articles of an author or a category are no fields here: they would be read with each of them.

const anybody = () => true

export default buildConfig({
  secret: 'a-secret-for-the-benchmark-alone',
  telemetry: false,
  logger: { options: { level: 'warn' } },
  db: postgresAdapter({
    pool: { connectionString: process.env.DATABASE_URL, max: 10 },
    push: false,
    migrationDir: './migrations',
  }),
  typescript: { autoGenerate: false },
  graphQL: { disablePlaygroundInProduction: true },
  collections: [
    {
      slug: 'authors',
      access: { read: anybody },
      fields: [
        { name: 'name', type: 'text', required: true },
        { name: 'bio', type: 'textarea' },
      ],
    },
    {
      slug: 'categories',
      access: { read: anybody },
      fields: [
        { name: 'name', type: 'text', required: true },
        { name: 'slug', type: 'text', unique: true },
      ],
    },
    {
      slug: 'articles',
      versions: { drafts: true },
      access: {
        // As its documentation has it: who is not signed in sees what is published.
        read: () => ({ _status: { equals: 'published' } }),
        create: anybody,
        update: anybody,
      },
      fields: [
        { name: 'title', type: 'text', required: true, maxLength: 120 },
        { name: 'slug', type: 'text', unique: true },
        { name: 'excerpt', type: 'textarea' },
        { name: 'body', type: 'textarea' },
        { name: 'rating', type: 'number' },
        { name: 'price', type: 'number' },
        { name: 'day', type: 'date' },
        { name: 'featured', type: 'checkbox', defaultValue: false },
        { name: 'kind', type: 'select', options: ['news', 'opinion', 'review'] },
        { name: 'author', type: 'relationship', relationTo: 'authors' },
        { name: 'categories', type: 'relationship', relationTo: 'categories', hasMany: true },
      ],
    },
  ],
})
