import { eventPatternFault, listenerKey } from '../../events/event-names.ts'
import type { EventListener } from '../../events/events.ts'
import type { Model } from '../../model/model.ts'
import type { DocumentsService } from '../extension.ts'
import type { DocumentMiddleware } from './documents-api.ts'

export interface Hooks {
  /** Round every document action, the first outermost. */
  readonly middlewares: DocumentMiddleware[]
  readonly listeners: EventListener[]
}

/** `documents` of one extension. */
export function documentsService(by: string, hooks: Hooks, model: Model): DocumentsService {
  const places = new Map<string, number>()
  return {
    use(middleware) {
      if (typeof middleware !== 'function') throw new Error('documents.use(…) takes a function')
      hooks.middlewares.push(middleware)
    },
    on(pattern, handle) {
      const fault = eventPatternFault(pattern, model)
      if (fault !== undefined) throw new Error(fault)
      if (typeof handle !== 'function') throw new Error(`nothing is to be done on \`${pattern}\``)
      const place = places.get(pattern) ?? 0
      places.set(pattern, place + 1)
      hooks.listeners.push({ key: listenerKey(by, pattern, place), pattern, handle })
    },
  }
}
