import { definePolicy } from 'plinth'

interface Config {
  /** The relation to a user that says whose a document is. */
  readonly field: string
}

/**
 * Lets through whoever owns the document that a request updates or deletes. `where:` of a permission does the same
 * inside the query (docs/access.md); a policy can also ask somebody else, or tell why.
 */
export default definePolicy<Config>({
  configSchema: {
    type: 'object',
    properties: { field: { type: 'string' } },
    required: ['field'],
    additionalProperties: false,
  },
  async check({ kind, info, args, state }, { field }, app) {
    const { documentId } = args
    if (kind !== 'rest' || info.type === null || typeof documentId !== 'string' || state.user === null)
      return false
    const document = await app
      .documents(info.type)
      .findOne({ documentId, populate: { [field]: { fields: ['id'] } } })
    const owner: unknown = document?.[field]
    return typeof owner === 'object' && owner !== null && 'id' in owner && owner.id === state.user.id
  },
})
