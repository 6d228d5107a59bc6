import type { StreamedDocument, StreamedValues } from '../../../tools/transfer/stream.ts'
import type { Action } from './action.ts'
import { type Cast, hasDrafts, type Instance, isList, isTwoWay, type Side, uidOf } from './world.ts'

/** Writes of an import and of content/. */
export function bulkActions(side: Side): Readonly<Record<string, Action>> {
  const actions = { ...imports(side), ...contents(side) }
  return Object.fromEntries(Object.entries(actions).map(([name, action]) => [`${side} ${name}`, action]))
}

const isDrafted =
  (side: Side) =>
  ({ shape }: Pick<Cast, 'shape'>): boolean =>
    hasDrafts(shape, side)

/** A stream says the links of the side that stores them; of the other side it changes other attributes alone. */
function imports(side: Side): Readonly<Record<string, Action>> {
  const action = (line: Line): Action => ({
    ...(line.draft !== undefined && { suits: isDrafted(side) }),
    isImport: true,
    run: (instance, cast) =>
      instance.import([uidOf('owner'), uidOf('target')], [documentOf(cast, side, line)]),
  })
  const other: Readonly<Record<string, Action>> = {
    'import without a link': action({ link: 'none', n: 21 }),
    'import of a new document': action({ isNew: true, link: 'first', n: 22 }),
    'import of another draft': action({ link: 'none', n: 23, draft: 24 }),
  }
  if (side === 'target') return other
  return {
    ...other,
    'import with a link': action({ link: 'first', n: 25 }),
    'import with another link': action({ link: 'second', n: 26 }),
    'import of another draft with a link': action({ link: 'first', n: 27, draft: 28 }),
  }
}

interface Line {
  readonly isNew?: boolean
  readonly link: 'first' | 'second' | 'none'
  readonly n: number
  /** `n` of the draft, where it differs: its link is another, too. */
  readonly draft?: number
}

function documentOf(cast: Cast, side: Side, { isNew, link, n, draft }: Line): StreamedDocument {
  const targets = { first: [cast.target], second: [cast.otherTarget], none: [] }
  const linked = (which: Line['link']): StreamedValues =>
    side === 'target'
      ? {}
      : { [cast.kind]: isList(cast.kind, side) ? targets[which] : (targets[which][0] ?? null) }
  const isLocalized = cast.shape === 'localized'
  const statuses = hasDrafts(cast.shape, side) ? (['draft', 'published'] as const) : (['published'] as const)
  const numberOf = (status: 'draft' | 'published') => (status === 'draft' ? (draft ?? n) : n)
  const label = isNew ? `new ${side}` : side
  const versions = statuses.map(status => ({
    ...(isLocalized && { locale: 'en' }),
    ...(statuses.length > 1 && { status }),
    values: {
      label,
      round: cast.round,
      ...(isLocalized ? {} : { n: numberOf(status) }),
      ...linked(status === 'draft' && draft !== undefined ? 'second' : link),
    },
  }))
  const shared = Object.fromEntries(statuses.map(status => [status, { n: numberOf(status) }]))
  return {
    type: uidOf(side),
    documentId: isNew ? `new-${side}-${cast.round}` : cast[side],
    versions,
    ...(isLocalized && { shared }),
  }
}

/** `sync` writes what the entry names; the other side's document is only there to be led to. */
function contents(side: Side): Readonly<Record<string, Action>> {
  const links = ({ kind }: Pick<Cast, 'kind'>) => side === 'owner' || isTwoWay(kind)
  const action =
    (entryOf: (cast: Cast) => object): Action['run'] =>
    (instance, cast) =>
      apply(instance, cast, side, entryOf(cast))
  const linked = (cast: Cast, id: string | null) => ({
    [cast.kind]: isList(cast.kind, side) ? (id === null ? [] : [id]) : id,
  })
  const first = (cast: Cast) => linked(cast, side === 'owner' ? cast.target : cast.owner)
  const common = (cast: Cast) => ({ label: side, round: cast.round, documentId: cast[side] })
  const isNew = (cast: Cast) => ({
    label: `new ${side}`,
    round: cast.round,
    documentId: `new-${side}-${cast.round}`,
  })
  return {
    'content with a link': { suits: links, run: action(cast => ({ ...common(cast), ...first(cast) })) },
    'content without a link': {
      suits: links,
      run: action(cast => ({ ...common(cast), ...linked(cast, null) })),
    },
    'content of another attribute': { run: action(cast => ({ ...common(cast), n: 31 })) },
    'content in the draft': {
      suits: cast => links(cast) && isDrafted(side)(cast),
      run: action(cast => ({ ...common(cast), status: 'draft', n: 32, ...first(cast) })),
    },
    'content of a new document': { suits: links, run: action(cast => ({ ...isNew(cast), ...first(cast) })) },
  }
}

async function apply(instance: Instance, cast: Cast, side: Side, entry: object): Promise<boolean> {
  const other = side === 'owner' ? 'target' : 'owner'
  return instance.apply({
    [`${side}s`]: { on: 'sync', documents: [entry] },
    [`${other}s`]: [{ documentId: cast[other], label: other, round: cast.round, n: 0 }],
  })
}
