import { definePolicy } from 'plinth'

interface Config {
  /** Keys of `roles` in project.yaml. The caller needs one of them. */
  readonly roles: readonly string[]
}

/** Allows users with one of these roles. API tokens have no role. */
export default definePolicy<Config>({
  configSchema: {
    type: 'object',
    properties: { roles: { type: 'array', items: { type: 'string' }, minItems: 1 } },
    required: ['roles'],
    additionalProperties: false,
  },
  check: ({ state }, { roles }) =>
    state.user !== null && state.role !== null && roles.includes(state.role.type),
})
