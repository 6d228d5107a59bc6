import { definePolicy, PolicyError } from 'plinth'

export default definePolicy({
  configSchema: {
    type: 'object',
    properties: { word: { type: 'string' } },
    required: ['word'],
    additionalProperties: false,
  },
  async check(context, { word }) {
    const body = await context.http.request.json()
    if (JSON.stringify(body).includes(word)) throw new PolicyError(`Do not say ${word}`)
    return true
  },
})
