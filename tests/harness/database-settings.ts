import type { DatabaseSettings } from '../../core/project/settings/settings.ts'

export const DATABASE_SETTINGS: DatabaseSettings = {
  url: 'embedded',
  replicas: [],
  replicaLag: 10_000,
  // Many tests open theirs at once, on a machine that may be busy.
  pool: { max: 10, idle: 10_000, acquire: 60_000 },
  startTimeout: 0,
  statementTimeout: 60_000,
  limits: { time: 60_000, bytes: 16_777_216, statements: 4 },
  preparedStatements: true,
  indexes: 'derived',
  schema: 'public',
}
