import { definePolicy } from 'plinth'

/** Answers what its config says. */
export default definePolicy<{ answer: boolean }>((_context, { answer }) => answer)
