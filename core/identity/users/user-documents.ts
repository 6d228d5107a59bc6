import { permitModified } from '../../access/restrict/modified-by-middleware.ts'
import type { Result } from '../../base/result.ts'
import type { Documents, Written } from '../../documents/documents.ts'
import type { Fault } from '../../faults/fault.ts'
import type { CreateCommand, PermittedCommand, UpdateCommand } from '../../query/command.ts'
import { mailConfirmation } from '../confirm-email.ts'
import { endSessions, forgetCodes } from '../end-sessions.ts'
import type { IdentityTerms } from '../identity.ts'
import { findAccount } from './accounts.ts'
import { withUsername } from './username.ts'

/**
 * Documents for all who may write users: a new password ends their sessions (safety S8), a new mail address what was
 * mailed to the old one, and has to be confirmed where the project asks for that, unless who writes it says that it is.
 */
export const userDocuments = (documents: Documents, terms: IdentityTerms): Documents => ({
  ...documents,
  create(command, answer) {
    const { user } = terms.model.builtIn
    return documents.create(command.type === user ? withStoredName(command) : command, answer)
  },
  async update(asked, answer, alongside) {
    if (asked.type !== terms.model.builtIn.user) return documents.update(asked, answer, alongside)
    const command = withStoredName(asked)
    const isNew = await hasNewAddress(command, terms)
    const written = await documents.update(
      isNew ? unconfirmed(command) : command,
      answer,
      async (transaction, documentId) => {
        await alongside?.(transaction, documentId)
        if (Object.hasOwn(command.values, 'password')) await endSessions(transaction, documentId, terms)
        if (Object.hasOwn(command.values, 'email')) await forgetCodes(transaction, documentId, terms)
      },
    )
    if (isNew) mailTo(written, terms)
    return written
  },
})

type Update = PermittedCommand<UpdateCommand>

function withStoredName<Kind extends CreateCommand | UpdateCommand>(
  command: PermittedCommand<Kind>,
): PermittedCommand<Kind> {
  const values = withUsername(command.values)
  return values === command.values ? command : permitModified({ ...command, values }, command, command)
}

/** Two who change it at once forget codes both, so that none confirms an address that it was not mailed to. */
async function hasNewAddress({ documentId, values }: Update, terms: IdentityTerms): Promise<boolean> {
  const { email, confirmed } = values
  if (!terms.settings.register.confirmEmail || typeof email !== 'string' || confirmed !== undefined)
    return false
  const account = await findAccount(terms.database, { by: 'documentId', text: documentId ?? '' }, terms)
  return account !== null && account.email !== email.toLowerCase()
}

const unconfirmed = (command: Update): Update =>
  permitModified({ ...command, values: { ...command.values, confirmed: false } }, command, command)

function mailTo(written: Result<Written, Fault>, terms: IdentityTerms): void {
  if (!written.ok) return
  const key = { by: 'documentId', text: written.value.documentId } as const
  terms.background.start(async () => {
    const account = await findAccount(terms.database, key, terms)
    if (account && !account.confirmed && !account.blocked) await mailConfirmation(account, terms)
  })
}
