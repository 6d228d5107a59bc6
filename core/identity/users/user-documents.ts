import { permitModified } from '../../access/restrict/modified-by-middleware.ts'
import type { Result } from '../../base/result.ts'
import type { Documents, SavedDocument } from '../../documents/documents.ts'
import type { Fault } from '../../faults/fault.ts'
import type { CreateCommand, PermittedCommand, UpdateCommand } from '../../query/command.ts'
import { mailConfirmation } from '../confirm-email.ts'
import { clearMailedCodes, endSessions } from '../end-sessions.ts'
import type { IdentityTerms } from '../identity.ts'
import { findAccount } from './accounts.ts'
import { withUsername } from './user-values.ts'

/**
 * Wraps the document service for users. A new password ends the user's sessions (reference/safety.md#s8-sessions-and-resets). A new address invalidates
 * mailed codes, and must be confirmed if the project requires it and the write does not set `confirmed`.
 */
export const userDocuments = (documents: Documents, terms: IdentityTerms): Documents => ({
  ...documents,
  create(command, answer) {
    const { user } = terms.model.builtIn
    return documents.create(command.type === user ? withNormalisedUsername(command) : command, answer)
  },
  async update(given, answer, alongside) {
    if (given.type !== terms.model.builtIn.user) return documents.update(given, answer, alongside)
    const command = withNormalisedUsername(given)
    const isNew = await hasNewAddress(command, terms)
    const written = await documents.update(
      isNew ? unconfirmed(command) : command,
      answer,
      async (transaction, documentId) => {
        await alongside?.(transaction, documentId)
        if (Object.hasOwn(command.values, 'password')) await endSessions(transaction, { documentId }, terms)
        if (Object.hasOwn(command.values, 'email')) await clearMailedCodes(transaction, documentId, terms)
      },
    )
    if (isNew) mailConfirmationTo(written, terms)
    return written
  },
})

type UserUpdate = PermittedCommand<UpdateCommand>

function withNormalisedUsername<Kind extends CreateCommand | UpdateCommand>(
  command: PermittedCommand<Kind>,
): PermittedCommand<Kind> {
  const values = withUsername(command.values)
  return values === command.values ? command : permitModified({ ...command, values }, command, command)
}

/** Read outside the transaction: concurrent changes each clear the codes, so no code confirms the wrong address. */
async function hasNewAddress({ documentId, values }: UserUpdate, terms: IdentityTerms): Promise<boolean> {
  const { email, confirmed } = values
  if (!terms.settings.register.confirmEmail || typeof email !== 'string' || confirmed !== undefined)
    return false
  const account = await findAccount(terms.database, { by: 'documentId', text: documentId ?? '' }, terms)
  return account !== null && account.email !== email.toLowerCase()
}

const unconfirmed = (command: UserUpdate): UserUpdate =>
  permitModified({ ...command, values: { ...command.values, confirmed: false } }, command, command)

function mailConfirmationTo(written: Result<SavedDocument, Fault>, terms: IdentityTerms): void {
  if (!written.ok) return
  const key = { by: 'documentId', text: written.value.documentId } as const
  terms.background.start(async () => {
    const account = await findAccount(terms.database, key, terms)
    if (account && !account.confirmed && !account.blocked) await mailConfirmation(account, terms)
  })
}
