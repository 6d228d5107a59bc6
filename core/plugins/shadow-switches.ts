import type { ShadowCrudDeclaration } from '../project/settings/settings.ts'

type Switch = 'enabled' | 'queries' | 'mutations'
type FieldSwitches = ShadowCrudDeclaration['fields'][string]

/** What of one content-type or component is generated, while extensions may still change it. */
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
