import type { Result } from '../../base/result.ts'
import type { Transaction } from '../../database/database.ts'
import { type EventAction, type Outbox, openTelling } from '../../documents/outbox.ts'
import { type TransactTerms, transact } from '../../documents/transact.ts'
import type { Fault } from '../../faults/fault.ts'
import type { Model } from '../../model/model.ts'
import type { Account } from './accounts.ts'

export interface AccountWriting extends TransactTerms {
  readonly model: Model
  readonly outbox: Outbox
}

/** Tells of what somebody did to an account of his own. */
export type TellOfAccount = (
  account: Pick<Account, 'id' | 'documentId'>,
  action: EventAction,
  attributes: Iterable<string>,
) => void

/** One transaction on the account of who proved that it is his; those who listen hear of it once it is committed. */
export async function writeAccount<Value>(
  work: (transaction: Transaction, tell: TellOfAccount) => Promise<Value>,
  terms: AccountWriting,
): Promise<Result<Value, Fault>> {
  const { user: type } = terms.model.builtIn
  const telling = openTelling(terms.outbox)
  const written = await transact(
    type,
    transaction => {
      const tell = telling.within(transaction, new Date().toISOString())
      return work(transaction, ({ id, documentId }, action, attributes) => {
        const by = { user: { id, documentId }, role: null, token: null }
        const changes = [{ locale: null, action }]
        tell({ type, documentId, changes, origin: { by, attributes: [...attributes] } })
      })
    },
    terms,
  )
  if (written.ok) telling.done()
  return written
}
