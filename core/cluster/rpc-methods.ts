import type { WorkerFamilies } from '../observe/metrics/print-families.ts'
import type { ServerSettings } from '../project/settings/settings.ts'

/** What the primary process asks a worker. */
export interface ToWorker {
  /** Read the project's files again. Whether it serves what they say now. */
  reload(): Promise<boolean>
  /** Let new requests wait until `release`, or until the next reload has ended. Answered when none is under way. */
  hold(): Promise<void>
  release(): Promise<void>
  /** Answers while its event loop turns. */
  beat(): Promise<true>
  /** What it counts. */
  numbers(): Promise<WorkerFamilies['families']>
}

/** What a worker asks the primary process. */
export interface ToPrimary {
  /** Know that it takes requests. */
  serving(about: ServingTerms): Promise<void>
  /** Have the others hold, where it is the first to reload. Answered when they do. */
  holdOthers(): Promise<void>
  /** What all of them count, as text. */
  allNumbers(): Promise<string>
}

/** What the primary does as the project says. */
export type ServingTerms = Pick<ServerSettings, 'host' | 'logLevel' | 'metrics' | 'stallTimeout'>
