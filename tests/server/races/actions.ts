import type { Action } from './action.ts'
import { bulkActions } from './bulk-actions.ts'
import { graphqlActions } from './graphql-actions.ts'
import {
  ask,
  type Cast,
  hasDrafts,
  type Instance,
  isTwoWay,
  pathOf,
  RULED_SECRET,
  type Side,
  uidOf,
} from './world.ts'

/** Answers whether a request was accepted. Rejects where the server failed. */
async function write(
  app: Instance,
  method: string,
  path: string,
  data?: unknown,
  token?: string,
): Promise<boolean> {
  const { status, body } = await ask(app, method, path, data, token)
  if (status >= 500) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(body)}`)
  return status < 400
}

const hasDraftsOf =
  (side: Side) =>
  ({ shape }: Pick<Cast, 'shape'>): boolean =>
    hasDrafts(shape, side)

/** The same, where the type has drafts: written as a draft alone. */
const asDraft = (path: string) => `${path}?status=draft`

const put = (side: Side, cast: Cast): string =>
  `${pathOf(side)}/${side === 'owner' ? cast.owner : cast.target}`

type Change = (cast: Cast, side: Side) => unknown

const other = (cast: Cast, side: Side): string => (side === 'owner' ? cast.target : cast.owner)
const second = (cast: Cast, side: Side): string => (side === 'owner' ? cast.otherTarget : cast.otherOwner)

/** The value of the relation in a body. */
const CHANGES: Readonly<Record<string, Change>> = {
  connect: (cast, side) => ({ connect: [other(cast, side)] }),
  disconnect: (cast, side) => ({ disconnect: [other(cast, side)] }),
  connectSecond: (cast, side) => ({ connect: [second(cast, side)] }),
  set: (cast, side) => ({ set: [other(cast, side)] }),
  setSecond: (cast, side) => ({ set: [second(cast, side)] }),
  clear: () => ({ set: [] }),
}

function changes(side: Side): Record<string, Action> {
  const suits = (cast: Pick<Cast, 'shape' | 'kind'>) => side === 'owner' || isTwoWay(cast.kind)
  const actions: Record<string, Action> = {}
  for (const [name, change] of Object.entries(CHANGES)) {
    const data = (cast: Cast) => ({ [cast.kind]: change(cast, side) })
    actions[`${side} ${name}`] = { suits, run: (app, cast) => write(app, 'PUT', put(side, cast), data(cast)) }
    actions[`${side} ${name} in the draft`] = {
      suits: cast => suits(cast) && hasDraftsOf(side)(cast),
      run: (app, cast) => write(app, 'PUT', asDraft(put(side, cast)), data(cast)),
    }
  }
  return actions
}

type StatusAction = 'publish' | 'unpublish' | 'discardDraft'

async function changeStatus(
  { app }: Instance,
  cast: Cast,
  side: Side,
  action: StatusAction,
): Promise<boolean> {
  const documents = app.app.documents(uidOf(side))
  const { entries } = await documents[action]({ documentId: side === 'owner' ? cast.owner : cast.target })
  return entries.length > 0
}

function documentActions(side: Side): Record<string, Action> {
  const actions: Record<string, Action> = {
    [`${side} update of another attribute`]: {
      run: (app, cast) => write(app, 'PUT', put(side, cast), { n: 7 }),
    },
    [`${side} update of another attribute in the draft`]: {
      suits: hasDraftsOf(side),
      run: (app, cast) => write(app, 'PUT', asDraft(put(side, cast)), { n: 8 }),
    },
    [`${side} delete`]: { run: (app, cast) => write(app, 'DELETE', put(side, cast)) },
    [`${side} create with a link`]: {
      suits: cast => side === 'owner' || isTwoWay(cast.kind),
      run: (app, cast) =>
        write(app, 'POST', pathOf(side), {
          label: `new ${side}`,
          round: cast.round,
          [cast.kind]: { connect: [other(cast, side)] },
        }),
    },
    [`${side} create of a draft with a link`]: {
      suits: cast => hasDraftsOf(side)(cast) && (side === 'owner' || isTwoWay(cast.kind)),
      run: (app, cast) =>
        write(app, 'POST', asDraft(pathOf(side)), {
          label: `new ${side}`,
          round: cast.round,
          [cast.kind]: { connect: [other(cast, side)] },
        }),
    },
  }
  for (const action of ['publish', 'unpublish', 'discardDraft'] as const)
    actions[`${side} ${action}`] = {
      suits: hasDraftsOf(side),
      run: (app, cast) => changeStatus(app, cast, side, action),
    }
  return actions
}

/** Writes of a caller whose permissions have conditions on `n`, which other actions change. */
function ruled(side: Side): Record<string, Action> {
  const update = (data: (cast: Cast) => unknown) => (app: Instance, cast: Cast) =>
    write(app, 'PUT', put(side, cast), data(cast), RULED_SECRET)
  return {
    [`${side} update under a condition`]: { run: update(() => ({ label: `ruled ${side}` })) },
    [`${side} connect under a condition`]: {
      suits: cast => side === 'owner' || isTwoWay(cast.kind),
      run: update(cast => ({ [cast.kind]: { connect: [other(cast, side)] } })),
    },
    [`${side} delete under a condition`]: {
      run: (app, cast) => write(app, 'DELETE', put(side, cast), undefined, RULED_SECRET),
    },
  }
}

const isLocalized = ({ shape }: Pick<Cast, 'shape'>): boolean => shape === 'localized'

const inFrench = (path: string) => `${path}?locale=fr`

/** Writes of another locale, which share attributes with the default one, and have links of their own. */
function translations(side: Side): Record<string, Action> {
  const translated = (cast: Cast) => ({ label: `${side} in French`, round: cast.round, n: 9 })
  const linksToo = (cast: Pick<Cast, 'shape' | 'kind'>) =>
    isLocalized(cast) && (side === 'owner' || isTwoWay(cast.kind))
  return {
    [`${side} translate`]: {
      suits: isLocalized,
      run: (app, cast) => write(app, 'PUT', inFrench(put(side, cast)), translated(cast)),
    },
    [`${side} translate in the draft`]: {
      suits: isLocalized,
      run: (app, cast) => write(app, 'PUT', `${inFrench(put(side, cast))}&status=draft`, translated(cast)),
    },
    [`${side} translate with a link`]: {
      suits: linksToo,
      run: (app, cast) => {
        const link = { [cast.kind]: { connect: [other(cast, side)] } }
        return write(app, 'PUT', inFrench(put(side, cast)), { ...translated(cast), ...link })
      },
    },
    [`${side} delete of all locales`]: {
      suits: isLocalized,
      run: (app, cast) => write(app, 'DELETE', `${put(side, cast)}?locale=*`),
    },
    [`${side} delete of the translation`]: {
      suits: isLocalized,
      run: (app, cast) => write(app, 'DELETE', inFrench(put(side, cast))),
    },
  }
}

export const ACTIONS: Readonly<Record<string, Action>> = {
  ...changes('owner'),
  ...changes('target'),
  ...documentActions('owner'),
  ...documentActions('target'),
  ...ruled('owner'),
  ...ruled('target'),
  ...translations('owner'),
  ...translations('target'),
  ...graphqlActions('owner'),
  ...graphqlActions('target'),
  ...bulkActions('owner'),
  ...bulkActions('target'),
}

/** The state in which the two actions begin, after the documents were created and published. */
export const BEGINNINGS: Readonly<Record<string, readonly string[]>> = {
  'no link': [],
  linked: ['owner connect'],
  'linked in the draft alone': ['owner connect in the draft'],
  'linked in the published version alone': ['owner connect', 'owner disconnect in the draft'],
  'linked, and the target is a draft': ['owner connect', 'target unpublish'],
  'linked, and the owner is a draft': ['owner connect', 'owner unpublish'],
  'target translated': ['target translate', 'owner connect'],
  'owner translated': ['owner translate', 'owner connect'],
  translated: ['owner translate', 'target translate', 'owner connect'],
  'translated and linked': ['target translate', 'owner translate with a link', 'owner connect'],
  'linked to both': ['owner connect', 'owner connectSecond'],
}
