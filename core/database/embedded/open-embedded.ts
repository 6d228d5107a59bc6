import type { DatabaseSettings } from '../../project/settings/settings.ts'
import { connect } from '../connect/connect.ts'
import { poolOf } from '../connect/pool.ts'
import type { Database } from '../database.ts'
import type { OpenOptions } from '../open-options.ts'
import { openAborting, pooledDatabase } from '../pooled-database.ts'
import { Scheduler, schedulerTerms } from '../scheduling/scheduler.ts'
import { syncAll } from './durability.ts'
import { type EmbeddedEngine, startEngine } from './engine.ts'
import { damaged, type EmbeddedFiles, takeFiles } from './files.ts'
import { startUpkeep } from './maintenance.ts'

/** Clients of the one session: a few, so that its prepared statements are not kept many times. */
const CLIENTS = 5

/** Never reaped: a client's prepared statements would stay behind in the session. */
const FOR_EVER = 2 ** 31 - 1

/** PostgreSQL in the process, its files under `.plinth/`. Rejects with an OpeningError. */
export async function openEmbedded(settings: DatabaseSettings, options: OpenOptions): Promise<Database> {
  const { dataDir, snapshot } = options.embedded ?? {}
  if (dataDir !== undefined) {
    const engine = await startEngine(dataDir, snapshot)
    return overEngine(engine, settings, options, engine.close)
  }
  const files = await takeFiles(options.root)
  const engine = await startOn(files, options)
  return overEngine(engine, settings, options, () => engine.close().finally(files.lock.release))
}

async function startOn(files: EmbeddedFiles, { observe, embedded }: OpenOptions): Promise<EmbeddedEngine> {
  const { dataDir, lock, isNew, created } = files
  try {
    const engine = await startEngine(dataDir, isNew ? embedded?.snapshot : undefined)
    if (isNew) await syncAll(dataDir)
    created()
    if (lock.takenFrom) observe({ event: 'database.recovered', pid: lock.takenFrom.pid })
    return engine
  } catch (error) {
    lock.release()
    throw damaged(dataDir, error instanceof Error ? error.message : String(error), error)
  }
}

async function overEngine(
  engine: EmbeddedEngine,
  settings: DatabaseSettings,
  { observe, statementLimit }: OpenOptions,
  afterClose: () => Promise<void>,
): Promise<Database> {
  let clients = 0
  const max = Math.min(settings.pool.max, CLIENTS)
  const aborting = openAborting()
  const statementPrefix = () => `c${++clients}_`
  const sequelize = await connect({
    target: {
      host: 'embedded',
      port: 0,
      username: 'postgres',
      database: 'postgres',
      dialectOptions: { stream: engine.connect },
    },
    pool: { ...settings.pool, max, idle: FOR_EVER },
    session: {
      ...settings,
      statementPrefix,
      mayBePooled: false,
      ...(statementLimit !== undefined && { statementLimit }),
    },
    observe,
    aborted: aborting.signal,
  })
  const scheduler = new Scheduler(schedulerTerms(max, settings))
  let upkeep: { stop(): void } | undefined
  const close = () => {
    upkeep?.stop()
    return afterClose()
  }
  const database = await pooledDatabase({
    ...{ kind: 'embedded', sequelize, settings, afterClose: close },
    ...{ pool: poolOf(sequelize, scheduler), scheduler, replicas: null, dedicate: null, aborting },
  })
  upkeep = startUpkeep(database, observe)
  return database
}
