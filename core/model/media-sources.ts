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

/** The number of ways to the files of each holder of a media attribute, in the order of the model. */
export const countMediaSources = memoize(
  ({ types }: MorphAttribute): ReadonlyMap<Holder, number> => sumWays(types.map(waysFrom)),
)

/**
 * All ways to the files of one holder, in the order of the model. Components within components multiply: in a project of
 * few lines there may be millions of ways, so check the number first (countMediaSources).
 */
export const mediaSources = (attribute: MorphAttribute, holder: Holder): readonly MediaSource[] =>
  sourcesOf(attribute)(holder)

const sourcesOf = memoize(({ types }: MorphAttribute) =>
  memoize((holder: Holder): readonly MediaSource[] =>
    types.flatMap(root => [...sourcesWithin({ root, steps: [], holder: root }, holder)]),
  ),
)

type Start = Pick<MediaSource, 'root' | 'steps' | 'holder'>

/** Enters only components that lead to the holder. Terminates because components cannot contain each other in a cycle. */
function* sourcesWithin(start: Start, to: Holder): Generator<MediaSource> {
  if (!waysFrom(start.holder).has(to)) return
  for (const attribute of start.holder.attributes.values()) {
    if (attribute.kind === 'media' && start.holder === to) yield { ...start, media: attribute }
    for (const step of stepsInto(attribute))
      yield* sourcesWithin({ root: start.root, steps: [...start.steps, step], holder: step.component }, to)
  }
}

/** The number of ways from rows of one holder. Each component is entered once, however many others contain it. */
const waysFrom = memoize(
  (holder: Holder): ReadonlyMap<Holder, number> =>
    sumWays(
      [...holder.attributes.values()].flatMap(attribute =>
        attribute.kind === 'media'
          ? [new Map([[holder, 1]])]
          : stepsInto(attribute).map(({ component }) => waysFrom(component)),
      ),
    ),
)

function sumWays(parts: readonly ReadonlyMap<Holder, number>[]): ReadonlyMap<Holder, number> {
  const sums = new Map<Holder, number>()
  for (const part of parts)
    for (const [holder, count] of part) sums.set(holder, (sums.get(holder) ?? 0) + count)
  return sums
}

function stepsInto(attribute: Attribute): readonly MediaStep[] {
  if (attribute.kind === 'component') return [{ attribute, component: attribute.component }]
  return attribute.kind === 'zone' ? attribute.components.map(component => ({ attribute, component })) : []
}
