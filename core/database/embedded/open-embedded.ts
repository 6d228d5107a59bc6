import { join } from 'node:path'
import type { DatabaseSettings } from '../../project/settings/settings.ts'
import { connect } from '../connect/connect.ts'
import { openDedicatedSession } from '../connect/dedicated-session.ts'
import { poolOf } from '../connect/pool.ts'
import type { Database } from '../database.ts'
import type { OpenOptions } from '../open-options.ts'
import { openAborting, pooledDatabase } from '../pooled-database.ts'
import { Scheduler, schedulerTerms } from '../scheduling/scheduler.ts'
import type { SessionSettings } from '../session.ts'
import { type EmbeddedAccess, offerAccess } from './access.ts'
import { syncAll } from './durability.ts'
import { type EmbeddedEngine, startEngine } from './engine.ts'
import { damaged, type EmbeddedFiles, takeFiles } from './files.ts'
import { joinEmbedded } from './join.ts'
import { startUpkeep } from './maintenance.ts'
import { printReset } from './reset.ts'

/** Clients of the one session: a few, so that its prepared statements are not kept many times. */
const CLIENTS = 5

/** Never reaped: a client's prepared statements would stay behind in the session. */
const FOR_EVER = 2 ** 31 - 1

/** PostgreSQL in the process, its files under `.plinth/`, or in the process that has them open. Rejects with an OpeningError. */
export async function openEmbedded(settings: DatabaseSettings, options: OpenOptions): Promise<Database> {
  const { dataDir, snapshot, access } = options.embedded ?? {}
  const session = sessionOf(settings, options)
  if (dataDir !== undefined) {
    const engine = await startEngine({ dataDir, snapshot, reset: printReset(session, OWN) })
    return overEngine({ engine, session, settings, options, afterClose: engine.close })
  }
  const open = () => openFiles(session, settings, options)
  if (access !== 'join') return open()
  return joinEmbedded({ folder: folderOf(options.root), settings, observe: options.observe }, open)
}

const folderOf = (root: string): string => join(root, '.plinth')

function sessionOf(settings: DatabaseSettings, { statementLimit }: OpenOptions): SessionSettings {
  let clients = 0
  return {
    ...settings,
    statementPrefix: () => `c${++clients}_`,
    mayBePooled: false,
    ...(statementLimit !== undefined && { statementLimit }),
  }
}

/** Of this process's clients: who they are, and the names of the statements that they prepare. */
const OWN = { user: 'postgres', kept: '^c[0-9]+_[0-9]+$' } as const

async function openFiles(
  session: SessionSettings,
  settings: DatabaseSettings,
  options: OpenOptions,
): Promise<Database> {
  const files = await takeFiles(folderOf(options.root))
  const engine = await startOn(files, session, options)
  const afterClose = () => engine.close().finally(files.lock.release)
  if (options.embedded?.access !== 'offer')
    return overEngine({ engine, session, settings, options, afterClose })
  const access = await offerAccess(engine, folderOf(options.root), options.observe)
  return overEngine({ engine, session, settings, options, afterClose, access })
}

async function startOn(
  files: EmbeddedFiles,
  session: SessionSettings,
  { observe, embedded }: OpenOptions,
): Promise<EmbeddedEngine> {
  const { dataDir, lock, isNew, created } = files
  try {
    const snapshot = isNew ? embedded?.snapshot : undefined
    const engine = await startEngine({ dataDir, snapshot, reset: printReset(session, OWN) })
    if (isNew) await syncAll(dataDir)
    created()
    if (lock.takenFrom) observe({ event: 'database.recovered', pid: lock.takenFrom.pid })
    return engine
  } catch (error) {
    lock.release()
    throw damaged(dataDir, error instanceof Error ? error.message : String(error), error)
  }
}

interface EngineParts {
  readonly engine: EmbeddedEngine
  readonly session: SessionSettings
  readonly settings: DatabaseSettings
  readonly options: OpenOptions
  afterClose(): Promise<void>
  /** Absent: other processes have no way to it. */
  readonly access?: EmbeddedAccess
}

async function overEngine(parts: EngineParts): Promise<Database> {
  const { engine, session, settings, access } = parts
  const { observe } = parts.options
  const aborting = openAborting()
  const connecting = {
    target: { ...TARGET, dialectOptions: { stream: () => engine.connect() } },
    session,
    observe,
    aborted: aborting.signal,
  }
  const max = Math.min(settings.pool.max, CLIENTS)
  const sequelize = await connect({ ...connecting, pool: { ...settings.pool, max, idle: FOR_EVER } })
  const scheduler = new Scheduler(schedulerTerms(max, settings))
  let upkeep: { stop(): void } | undefined
  const afterClose = () => {
    upkeep?.stop()
    return parts.afterClose()
  }
  const dedicate = async () => ({
    ...(await openDedicatedSession(connecting)),
    // PostgreSQL delivers a NOTIFY to the client that sent it: there is one session.
    onNotice: engine.onNotice,
  })
  const database = await pooledDatabase({
    ...{ kind: 'embedded', sequelize, settings, afterClose },
    ...{ pool: poolOf(sequelize, scheduler), scheduler, replicas: null, aborting },
    ...(access ? { dedicate, endForeign: access.close } : { dedicate: null }),
  })
  upkeep = startUpkeep(database, observe)
  return database
}

const TARGET = { host: 'embedded', port: 0, username: OWN.user, database: 'postgres' }
