import type { Sequelize } from 'sequelize'

/** Connections to the primary. */
export interface PoolState {
  readonly busy: number
  readonly idle: number
  /** Work that waits for one. */
  readonly waiting: number
}

/** Of the pool that Sequelize keeps; its types leave it out. */
export function poolStateOf({ connectionManager }: Sequelize): Omit<PoolState, 'waiting'> {
  const { pool } = connectionManager as unknown as { readonly pool: SequelizePool }
  return { busy: pool.using, idle: pool.available }
}

interface SequelizePool {
  readonly using: number
  readonly available: number
}
