import type { ShadowCrudDeclaration } from '../project/settings/declarations.ts'
import type { ShadowField } from './services/graphql-service.ts'

type Switch = 'enabled' | 'queries' | 'mutations'
type FieldSwitches = ShadowCrudDeclaration['fields'][string]

/** Which parts of a content-type or component are generated, while extensions can still change it. */
export class ShadowSwitches {
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

interface FieldTerms {
  readonly name: string
  readonly switches: ShadowSwitches
  /** Throws when the schema can no longer be changed. */
  readonly assertOpen: () => void
}

/** Switches of one field (reference/graphql.md#9-extension-service). */
export function shadowField({ name, switches, assertOpen }: FieldTerms): ShadowField {
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
