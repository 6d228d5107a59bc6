import type { Responder } from '../faults/http-exchange.ts'
import { openHealth } from './health.ts'
import { createRefusal } from './refusal.ts'

/** What a start does before the project is served. */
export type StartStep = 'starting' | 'waiting' | 'migrating' | 'filling' | 'extensions'

/** What `/_ready` says of a step. Details, such as the database's address, are for the log alone. */
const REASONS: Readonly<Record<StartStep, string>> = {
  starting: 'The server is starting',
  waiting: 'The server waits for the database',
  migrating: 'The database is being migrated',
  filling: 'Roles, locales and content are being written',
  extensions: 'The extensions of the project are starting',
}

const MESSAGE = 'The server is starting: try again in a moment'

/** Answers every request while a server starts. */
export interface StartGate {
  readonly responders: readonly Responder[]
  /** Says what the start does from now on. */
  enter(step: StartStep): void
}

/** `graphql`: the path of GraphQL. */
export function openStartGate(graphql: string): StartGate {
  let step: StartStep = 'starting'
  const health = openHealth({ readiness: async () => 'starting', reason: () => REASONS[step] })
  return {
    responders: [health, createRefusal({ message: MESSAGE, graphql })],
    enter(next) {
      step = next
    },
  }
}
