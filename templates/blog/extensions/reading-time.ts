import { defineExtension } from 'plinth'

const WORDS_PER_MINUTE = 220

/** Sets `minutes` of an article from the texts of its body, at every write. */
export default defineExtension({
  register({ documents }) {
    documents.use(async (context, next) => {
      if (context.uid !== 'api::article.article') return next()
      const data: unknown = 'data' in context.params ? context.params.data : undefined
      if (isWritten(data) && Array.isArray(data.body)) data.minutes = minutesOf(data.body)
      return next()
    })
  },
})

const isWritten = (data: unknown): data is Record<string, unknown> =>
  typeof data === 'object' && data !== null && !Array.isArray(data)

function minutesOf(blocks: readonly unknown[]): number {
  const texts = blocks.map(block => (isWritten(block) ? String(block.text ?? '') : ''))
  const words = texts.join(' ').split(/\s+/).length
  return Math.max(1, Math.round(words / WORDS_PER_MINUTE))
}
