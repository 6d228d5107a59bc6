import { failed, ok, type Result } from '../base/result.ts'
import type { Draining } from '../http/dispatcher.ts'
import type { Table } from '../model/storage.ts'
import type { Tracing } from '../observe/tracing.ts'
import type { Blueprint } from './compile-app.ts'
import { othersOf } from './deployment.ts'
import { carryOver } from './fixed-settings.ts'
import { type App, readyApp } from './open-app.ts'
import { type LogTerms, observerOf } from './open-observed.ts'
import { type Running, type ServedBeside, type Service, tellNews, toServed } from './service.ts'
import type { StartFault } from './start-fault.ts'

export interface ReplaceTerms extends LogTerms {
  readonly production: boolean
  /** Absent or null: nobody traces. */
  readonly tracing?: Tracing | null
  /** Before a migration takes away what others who serve the former state rely on: has them let requests wait. */
  readonly holdOthers?: () => Promise<void>
  /** A migration may make processes of other versions outdated, which serve from the same database. */
  readonly replaceOthers?: boolean
}

/**
 * Opens an app of this blueprint beside the one that runs, over the same database; then swaps them, and ends the old
 * one once its requests are answered. Answers what only a restart would change. Where the new one cannot be opened,
 * the old one has not noticed.
 */
export async function replaceApp(
  service: Service,
  wanted: Blueprint,
  terms: ReplaceTerms,
): Promise<Result<readonly string[], StartFault>> {
  const before = service.running
  const { blueprint, held } = carryOver(before.app.blueprint, wanted)
  const observer = observerOf(blueprint, terms)
  const { production, meters = null, tracing = null } = terms
  const ready = await readyApp(blueprint, {
    ...{ production, observer, meters, tracing },
    others: othersOf(terms),
  })
  if (!ready.ok) return ready
  const go = isAddedTo(before.app.blueprint, blueprint) ? () => {} : await holdAll(service, terms)
  try {
    const opened = await ready.value(before.app.database)
    if (!opened.ok) return opened
    if (service.isEnding) return await giveUp(opened.value)
    const outgoing = await takeOver(service, { app: opened.value, observer }, { production, tracing })
    retire(service, before, outgoing)
    await service.presence.move(opened.value.generation.hash)
    return ok(held)
  } finally {
    go()
  }
}

async function holdAll({ server }: Service, { holdOthers }: ReplaceTerms): Promise<() => void> {
  const [go] = await Promise.all([server.hold(), holdOthers?.()])
  return go
}

async function giveUp(app: App): Promise<Result<never, StartFault>> {
  await app.close()
  return failed({ kind: 'other', message: 'the server is ending' })
}

async function takeOver(
  service: Service,
  running: Running,
  terms: Omit<ServedBeside, 'numbers'>,
): Promise<Draining> {
  tellNews(running)
  const outgoing = await service.server.swap(toServed(running, { ...service, ...terms }))
  service.running = running
  service.log.replace(running.observer)
  return outgoing
}

/**
 * Whether the tables of the one are still there in the other, and their rows mean the same: else a migration may take away
 * or multiply what requests rely on.
 */
function isAddedTo({ storage: before }: Blueprint, { storage: after }: Blueprint): boolean {
  const columnsOf = ({ name: table, columns, shape }: Table) => [
    ...columns.map(({ name, type }) => `${table} ${name} ${type}`),
    ...(shape ? [`${table} ${shape.drafts} ${shape.locale !== null}`] : []),
  ]
  const there = new Set(after.tables.flatMap(columnsOf))
  return before.tables.flatMap(columnsOf).every(column => there.has(column))
}

function retire(service: Service, { app, observer }: Running, outgoing: Draining): void {
  const ending = outgoing
    .drained()
    .then(() => app.close())
    .catch((error: unknown) => observer.emit({ kind: 'pluginFailed', message: NOT_ENDED, error }))
    .finally(() => service.retiring.delete(ending))
  service.retiring.add(ending)
}

const NOT_ENDED = 'What was served before the reload could not be ended'
