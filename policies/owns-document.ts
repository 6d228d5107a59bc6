import { definePolicy } from 'plinth'

interface Config {
  /** The relation to the user who owns the document. */
  readonly field: string
}

/**
 * Allows users to update and delete their own documents. `where` of a permission does the same inside the query
 * (docs/access.md); a policy can also call other services and give a reason.
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
    // Any content-type with such a relation: the generated types need the name of one.
    const document: Readonly<Record<string, unknown>> | null = await app
      .documents(info.type as 'tip')
      .findOne({ documentId, populate: { [field]: { fields: ['id'] } } })
    const owner: unknown = document?.[field]
    return typeof owner === 'object' && owner !== null && 'id' in owner && owner.id === state.user.id
  },
})
