import { definePolicy } from 'plinth'

interface Config {
  /** Keys under `roles:` in project.yaml; one of them is enough. */
  readonly roles: readonly string[]
}

/** Lets through whoever is signed in with one of these roles. Programs with an API token have none. */
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
