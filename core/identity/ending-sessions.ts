import type { Documents } from '../documents/documents.ts'
import { type EndTerms, endSessions, forgetCodes } from './end-sessions.ts'

/** Documents as code gets them: whoever writes a user's password ends his sessions, as everywhere else (safety S8). */
export const endingSessions = (documents: Documents, terms: EndTerms): Documents => ({
  ...documents,
  update: (command, answer, alongside) =>
    documents.update(command, answer, async (transaction, documentId) => {
      await alongside?.(transaction, documentId)
      if (command.type !== terms.model.builtIn.user) return
      if (Object.hasOwn(command.values, 'password')) await endSessions(transaction, documentId, terms)
      if (Object.hasOwn(command.values, 'email')) await forgetCodes(transaction, documentId, terms)
    }),
})
