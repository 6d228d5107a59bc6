import type { ShadowField } from './services/graphql-service.ts'
import type { ShadowSwitches } from './shadow-switches.ts'

export interface FieldTerms {
  readonly name: string
  readonly switches: ShadowSwitches
  /** Throws once nothing can be changed any more. */
  readonly assertOpen: () => void
}

/** The functions and getters of one field (spec 4.10). */
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
