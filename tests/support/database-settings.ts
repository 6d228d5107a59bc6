import type { DatabaseSettings } from '../../core/project/settings.ts'

export const DATABASE_SETTINGS: DatabaseSettings = {
  url: 'embedded',
  replicas: [],
  replicaLag: 10_000,
  pool: { max: 10, idle: 10_000, acquire: 5_000 },
  statementTimeout: 15_000,
  preparedStatements: true,
  indexes: 'derived',
  schema: 'public',
}
