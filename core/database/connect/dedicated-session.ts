import { runOn } from '../connection.ts'
import type { DedicatedSession } from '../database.ts'
import { SERVER_READ } from '../scheduling/scheduled-work.ts'
import { toFailure } from '../to-failure.ts'
import { type ConnectOptions, connect } from './connect.ts'
import { poolOf } from './pool.ts'

/** Never reaped. */
const FOR_EVER = 2 ** 31 - 1

const PATIENCE = 10_000

export async function openDedicatedSession(terms: Omit<ConnectOptions, 'pool'>): Promise<DedicatedSession> {
  const sequelize = await connect({ ...terms, pool: { max: 1, idle: FOR_EVER, acquire: PATIENCE } })
  const pool = poolOf(sequelize, null)
  const connection = await pool.acquire(SERVER_READ).catch(async (error: unknown) => {
    await sequelize.close()
    throw error
  })
  const bounds = { patience: PATIENCE, maxBytes: Number.POSITIVE_INFINITY }
  return {
    isPooled: connection.plinthPooled !== undefined,
    run: statement =>
      runOn(connection, statement, bounds).catch((error: unknown) => {
        throw toFailure(error)
      }),
    onNotice: told => void connection.on('notification', told),
    onEnd: told => void connection.once('end', told),
    async close() {
      pool.discard(connection)
      await sequelize.close()
    },
  }
}
