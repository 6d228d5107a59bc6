import { defineMiddleware } from 'plinth'

/** Adds a text to what is inside. */
export default defineMiddleware<{ text: string }>({
  optionsSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
  resolver:
    ({ text }) =>
    async next =>
      `${await next()}${text}`,
})
