import { didYouMean, hintFor } from '../../base/nearest.ts'
import type { ContentType, Holder, Model } from '../../model/model.ts'
import type { ShadowCrudDeclaration } from '../../project/settings/declarations.ts'
import type { GraphqlSettings } from '../../project/settings/settings.ts'
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
  /** The `graphql` service of one extension. */
  open(by: string): GraphqlService
  /** Returns all changes. Later calls of the services throw. */
  close(): GraphqlParts
}

interface RegistrationState {
  readonly model: Model
  readonly switches: Map<string, ShadowSwitches>
  readonly uses: GraphqlUse[]
  closed: boolean
}

export function openGraphqlServices(model: Model, { shadowCRUD }: GraphqlSettings): GraphqlServices {
  const declared = Object.entries(shadowCRUD).map(
    ([key, one]) => [`api::${key}.${key}`, new ShadowSwitches(one)] as const,
  )
  const state: RegistrationState = { model, switches: new Map(declared), uses: [], closed: false }
  return {
    open: by => graphqlServiceFor(by, state),
    close() {
      state.closed = true
      const { switches, uses } = state
      return { shadow: new Map([...switches].map(([uid, one]) => [uid, one.declared])), uses }
    },
  }
}

function graphqlServiceFor(by: string, state: RegistrationState): GraphqlService {
  const service: GraphqlService = {
    shadowCRUD: uid => shadowType(findHolder(uid, state.model), state),
    use(extension) {
      assertOpen(state)
      const isOne = typeof extension === 'function' || (typeof extension === 'object' && extension !== null)
      if (!isOne) throw new Error('graphql.use(…) takes an object, or a function that makes one')
      state.uses.push({ by, extension })
      return service
    },
  }
  return service
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

function shadowType(holder: Holder, state: RegistrationState): ShadowType {
  const switches = state.switches.get(holder.uid) ?? new ShadowSwitches()
  state.switches.set(holder.uid, switches)
  const change = (work: (type: ContentType) => void): ShadowType => {
    assertOpen(state)
    work(assertType(holder))
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
    field: name =>
      shadowField({ name: assertField(name, holder), switches, assertOpen: () => assertOpen(state) }),
    isEnabled: () => switches.has('enabled'),
    isDisabled: () => !switches.has('enabled'),
    areQueriesEnabled: () => switches.has('queries'),
    areQueriesDisabled: () => !switches.has('queries'),
    areMutationsEnabled: () => switches.has('mutations'),
    areMutationsDisabled: () => !switches.has('mutations'),
    isActionEnabled: action => expandAction(action, assertType(holder)).every(each => switches.does(each)),
    isActionDisabled: action => !shadow.isActionEnabled(action),
  }
  return shadow
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

function assertField(name: string, { uid, attributes }: Holder): string {
  const known = [...attributes.keys()].filter(each => each !== 'id' && each !== 'documentId')
  if (known.includes(name)) return name
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
  return field
}
