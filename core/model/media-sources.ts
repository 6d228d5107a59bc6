import { memoize } from '../base/memo.ts'
import type {
  Attribute,
  Component,
  ComponentAttribute,
  ContentType,
  Holder,
  MediaAttribute,
  MorphAttribute,
  ZoneAttribute,
} from './model.ts'

/** One way from a document to a file: over components, if any, to a media attribute. */
export interface MediaSource {
  /** Its permissions, drafts and locales apply. */
  readonly root: ContentType
  /** The components from the document inwards; empty: the document has the media attribute itself. */
  readonly steps: readonly MediaStep[]
  /** Has the media attribute: the last component, or the root. */
  readonly holder: Holder
  readonly media: MediaAttribute
}

export interface MediaStep {
  readonly attribute: ComponentAttribute | ZoneAttribute
  readonly component: Component
}

type Start = Pick<MediaSource, 'root' | 'steps' | 'holder'>

/** All ways to files, by the holder of the media attribute, in the order of the model. */
export const mediaSources = memoize(
  ({ types }: MorphAttribute): ReadonlyMap<Holder, readonly MediaSource[]> => {
    const found = new Map<Holder, MediaSource[]>()
    for (const root of types)
      for (const source of sourcesWithin({ root, steps: [], holder: root })) {
        const known = found.get(source.holder)
        if (known) known.push(source)
        else found.set(source.holder, [source])
      }
    return found
  },
)

/** Terminates because components cannot contain each other in a cycle (check/components.ts). */
function* sourcesWithin(start: Start): Generator<MediaSource> {
  for (const attribute of start.holder.attributes.values()) {
    if (attribute.kind === 'media') yield { ...start, media: attribute }
    for (const step of stepsInto(attribute))
      yield* sourcesWithin({ root: start.root, steps: [...start.steps, step], holder: step.component })
  }
}

function stepsInto(attribute: Attribute): readonly MediaStep[] {
  if (attribute.kind === 'component') return [{ attribute, component: attribute.component }]
  return attribute.kind === 'zone' ? attribute.components.map(component => ({ attribute, component })) : []
}
