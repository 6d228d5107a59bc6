import type { Cast, Instance } from './world.ts'

export interface Action {
  /** undefined: always. Whether the action has a meaning for these types and this kind. */
  readonly suits?: (cast: Pick<Cast, 'shape' | 'kind'>) => boolean
  readonly isImport?: true
  /** Answers whether it was done: false where it was refused, or found nothing to do. */
  run(instance: Instance, cast: Cast): Promise<boolean>
}
