import type { Sequelize } from 'sequelize'

/** Connections to the primary. */
export interface PoolState {
  readonly busy: number
  readonly idle: number
  /** Work that waits for one. */
  readonly waiting: number
}

/** Of the pool that Sequelize keeps (its types leave it out), which counts connections that are `kept` as busy. */
export function poolStateOf({ connectionManager }: Sequelize, kept: number): Omit<PoolState, 'waiting'> {
  const { pool } = connectionManager as unknown as { readonly pool: SequelizePool }
  return { busy: pool.using - kept, idle: pool.available + kept }
}

interface SequelizePool {
  readonly using: number
  readonly available: number
}
