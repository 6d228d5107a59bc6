import { didYouMean, hintFor } from '../../base/nearest.ts'
import type { ContentType, Holder, Model } from '../../model/model.ts'
import type { ShadowCrudDeclaration } from '../../project/settings/declarations.ts'
import type { GraphqlSettings } from '../../project/settings/settings.ts'
import { withKnownNames } from '../plugin-module.ts'
import type {
  GraphqlExtension,
  GraphqlService,
  GraphqlTools,
  ShadowField,
  ShadowType,
} from './graphql-service.ts'

/** All changes of extensions to the schema, before it is built. */
export interface GraphqlParts {
  /** Switches by uid, including those of project.yaml. */
  readonly shadow: ReadonlyMap<string, ShadowCrudDeclaration>
  readonly uses: readonly GraphqlUse[]
}

/** One call of `graphql.use`. */
export interface GraphqlUse {
  /** `extensions/search` */
  readonly by: string
  readonly extension: GraphqlExtension | ((tools: GraphqlTools) => GraphqlExtension)
}

export interface GraphqlServices {
  /** The `graphql` service of one extension. `report`: what a call refuses, so that the calls after it are checked, too. */
  open(by: string, report: (error: unknown) => void): GraphqlService
  /** Returns all changes. Later calls of the services throw. */
  close(): GraphqlParts
}

interface RegistrationState {
  readonly model: Model
  readonly switches: Map<string, ShadowSwitches>
  readonly uses: GraphqlUse[]
  closed: boolean
}

/** The state as one extension changes it. */
interface ExtensionState {
  readonly state: RegistrationState
  /** Reports what the work refuses, and returns `instead`. */
  attempt<Value>(work: () => Value, instead: Value): Value
}

export function openGraphqlServices(model: Model, { shadowCRUD }: GraphqlSettings): GraphqlServices {
  const declared = Object.entries(shadowCRUD).map(
    ([key, one]) => [`api::${key}.${key}`, new ShadowSwitches(one)] as const,
  )
  const state: RegistrationState = { model, switches: new Map(declared), uses: [], closed: false }
  return {
    open(by, report) {
      const attempt = <Value>(work: () => Value, instead: Value): Value => {
        try {
          return work()
        } catch (error) {
          report(error)
          return instead
        }
      }
      return graphqlServiceFor(by, { state, attempt })
    },
    close() {
      state.closed = true
      const { switches, uses } = state
      return { shadow: new Map([...switches].map(([uid, one]) => [uid, one.declared])), uses }
    },
  }
}

function graphqlServiceFor(by: string, own: ExtensionState): GraphqlService {
  const { state, attempt } = own
  const service: GraphqlService = {
    shadowCRUD: uid =>
      shadowType(
        attempt(() => findHolder(uid, state.model), null),
        own,
      ),
    use(extension) {
      assertOpen(state)
      attempt(() => {
        const isOne = typeof extension === 'function' || (typeof extension === 'object' && extension !== null)
        if (!isOne) throw new Error('graphql.use(…) takes an object, or a function that makes one')
        state.uses.push({ by, extension })
      }, undefined)
      return service
    },
  }
  return withKnownNames('graphql', service)
}

function assertOpen({ closed }: RegistrationState): void {
  if (closed) throw new Error('graphql can be extended in `register` alone: now the schema is made')
}

function findHolder(uid: string, { contentTypes, components }: Model): Holder {
  const found = contentTypes.get(uid) ?? components.get(uid)
  if (found) return found
  const known = [...contentTypes.keys(), ...components.keys()]
  const byKey = known.find(each => each.endsWith(`.${uid}`))
  const hint = byKey === undefined ? didYouMean(uid, known) : `: did you mean \`${byKey}\`?`
  throw new Error(`unknown content-type \`${uid}\`${hint}`)
}

/** `holder` null: an unknown uid, which is reported. Nothing of it can be switched. */
function shadowType(holder: Holder | null, { state, attempt }: ExtensionState): ShadowType {
  const switches = (holder && state.switches.get(holder.uid)) ?? new ShadowSwitches()
  if (holder) state.switches.set(holder.uid, switches)
  const change = (work: (type: ContentType) => void): ShadowType => {
    assertOpen(state)
    if (holder) attempt(() => work(assertType(holder)), undefined)
    return shadow
  }
  const disableActions = (actions: readonly string[]) =>
    change(type => switches.turnOffActions(actions.flatMap(action => expandAction(action, type))))
  const shadow: ShadowType = {
    disable: () => change(() => switches.turnOff('enabled')),
    disableQueries: () => change(() => switches.turnOff('queries')),
    disableMutations: () => change(() => switches.turnOff('mutations')),
    disableAction: action => disableActions([action]),
    disableActions,
    field(name) {
      if (holder) attempt(() => assertField(name, holder), undefined)
      return shadowField({ name, switches, assertOpen: () => assertOpen(state) })
    },
    isEnabled: () => switches.has('enabled'),
    isDisabled: () => !switches.has('enabled'),
    areQueriesEnabled: () => switches.has('queries'),
    areQueriesDisabled: () => !switches.has('queries'),
    areMutationsEnabled: () => switches.has('mutations'),
    areMutationsDisabled: () => !switches.has('mutations'),
    isActionEnabled: action =>
      holder !== null &&
      attempt(() => expandAction(action, assertType(holder)).every(each => switches.does(each)), false),
    isActionDisabled: action => !shadow.isActionEnabled(action),
  }
  return withKnownNames('graphql.shadowCRUD(…)', shadow)
}

/** Components cannot be removed, since other types use them. */
function assertType(holder: Holder): ContentType {
  if (holder.holder === 'content-type') return holder
  throw new Error(`\`${holder.uid}\` is a component: only its fields can be switched off`)
}

const ACTIONS = {
  collection: ['find', 'findOne', 'create', 'update', 'delete'],
  single: ['find', 'update', 'delete'],
} as const

function expandAction(action: string, { kind, uid, localized }: ContentType): readonly string[] {
  const known: readonly string[] = [...ACTIONS[kind], ...(localized ? ['createLocalization'] : [])]
  if (action === '*') return known
  if (known.includes(action)) return [action]
  const hint = hintFor(action, [...known, '*'])
  throw new Error(`\`${uid}\` has no action \`${action}\`${hint}`)
}

function assertField(name: string, { uid, attributes }: Holder): void {
  const known = [...attributes.keys()].filter(each => each !== 'id' && each !== 'documentId')
  if (known.includes(name)) return
  throw new Error(`\`${uid}\` has no attribute \`${name}\`${didYouMean(name, known)}`)
}

type Switch = 'enabled' | 'queries' | 'mutations'
type FieldSwitches = ShadowCrudDeclaration['fields'][string]

/** Which parts of a content-type or component are generated, while extensions can still change it. */
class ShadowSwitches {
  #declared: ShadowCrudDeclaration

  constructor(declared: ShadowCrudDeclaration = EVERYTHING) {
    this.#declared = declared
  }

  get declared(): ShadowCrudDeclaration {
    return this.#declared
  }

  has(key: Switch): boolean {
    return this.#declared[key]
  }

  turnOff(key: Switch): void {
    this.#declared = { ...this.#declared, [key]: false }
  }

  does(action: string): boolean {
    return this.#declared.actions[action] !== false
  }

  turnOffActions(actions: readonly string[]): void {
    const off = Object.fromEntries(actions.map(action => [action, false]))
    this.#declared = { ...this.#declared, actions: { ...this.#declared.actions, ...off } }
  }

  field(name: string): FieldSwitches {
    return this.#declared.fields[name] ?? WHOLE
  }

  turnOffField(name: string, key: keyof FieldSwitches): void {
    const fields = { ...this.#declared.fields, [name]: { ...this.field(name), [key]: false } }
    this.#declared = { ...this.#declared, fields }
  }
}

const EVERYTHING: ShadowCrudDeclaration = {
  enabled: true,
  queries: true,
  mutations: true,
  actions: {},
  fields: {},
}

const WHOLE: FieldSwitches = { enabled: true, output: true, input: true, filters: true }

interface FieldOptions {
  readonly name: string
  readonly switches: ShadowSwitches
  /** Throws when the schema can no longer be changed. */
  readonly assertOpen: () => void
}

/** Switches of one field (reference/graphql.md#9-extension-service). */
function shadowField({ name, switches, assertOpen }: FieldOptions): ShadowField {
  type Switch = keyof ReturnType<ShadowSwitches['field']>
  const turnOff = (key: Switch): ShadowField => {
    assertOpen()
    switches.turnOffField(name, key)
    return field
  }
  const has = (side: Switch): boolean => {
    const switched = switches.field(name)
    return switched.enabled && switched[side]
  }
  const field: ShadowField = {
    disable: () => turnOff('enabled'),
    disableOutput: () => turnOff('output'),
    disableInput: () => turnOff('input'),
    disableFilters: () => turnOff('filters'),
    isEnabled: () => has('enabled'),
    isDisabled: () => !has('enabled'),
    hasInputEnabled: () => has('input'),
    hasOutputEnabled: () => has('output'),
    hasFiltersEnabled: () => has('filters'),
  }
  return withKnownNames('graphql.shadowCRUD(…).field(…)', field)
}
