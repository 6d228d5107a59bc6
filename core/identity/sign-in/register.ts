import type { Transaction } from '../../database/database.ts'
import type { Values } from '../../documents/desired-state.ts'
import { newDocumentId } from '../../documents/rows/document-id.ts'
import { type ParseTerms, parseValues } from '../../documents/values/parse-attribute.ts'
import { rule, toFault, toRefusal } from '../../documents/values/value-fault.ts'
import { fault, RequestFault } from '../../faults/fault.ts'
import { mailConfirmation } from '../confirm-email.ts'
import type { IdentityTerms, SignedIn } from '../identity.ts'
import { type AuthBody, parseCredentials } from '../parse-credentials.ts'
import { type Account, findAccount, writeAccount } from '../users/accounts.ts'
import { findRole, hashUserValues, roleValue, saveUser, scalarValue } from '../users/save-user.ts'
import { requireScalar, withUsername } from '../users/user-values.ts'
import { issueSession } from './sign-in.ts'

const REQUIRED_FIELDS = ['email', 'username', 'password'] as const

const TAKEN_MESSAGE = 'Email or Username are already taken'

/** Creates a user with the configured role. Keys that the project does not allow are refused (reference/safety.md#s6-mass-assignment). */
export async function register(body: AuthBody, terms: IdentityTerms): Promise<SignedIn> {
  if (!terms.settings.register.enabled)
    throw new RequestFault(fault('application', 'Register action is currently disabled'))
  const values = await parseRegistration(withUsername(body), terms)
  const account = await writeAccount(async (transaction, recordEvent) => {
    const inserted = await insertUser(values, transaction, terms)
    recordEvent(inserted, 'create', [...values.keys(), 'role'])
    return inserted
  }, terms).catch(throwTaken)
  if (!terms.settings.register.confirmEmail) return issueSession(account, terms)
  terms.background.start(() => mailConfirmation(account, terms))
  return { jwt: null, documentId: account.documentId }
}

/** A unique violation by a concurrent registration is reported like a value that was taken before. */
function throwTaken(error: unknown): never {
  if (!(error instanceof RequestFault)) throw error
  const { errors } = error.details
  const [first]: readonly { readonly path?: readonly string[] }[] = Array.isArray(errors) ? errors : []
  const isTaken = first?.path?.some(name => name === 'email' || name === 'username')
  throw isTaken ? new RequestFault(fault('application', TAKEN_MESSAGE)) : error
}

async function parseRegistration(body: AuthBody, { settings, model }: IdentityTerms): Promise<Values> {
  const { allowedFields, confirmEmail } = settings.register
  const allowed: ReadonlySet<string> = new Set([...REQUIRED_FIELDS, ...allowedFields])
  const wrong = Object.keys(body).filter(key => !allowed.has(key))
  if (wrong.length > 0) throw new RequestFault(fault('validation', `Invalid parameters: ${wrong.join(', ')}`))
  const rules = REQUIRED_FIELDS.map(name => ({ name, attribute: requireScalar(model.builtIn.user, name) }))
  parseCredentials(body, rules)
  const { values, faults } = parseValues(model.builtIn.user, body, PARSE_TERMS)
  const refusal = toRefusal(faults)
  if (refusal) throw new RequestFault(refusal)
  const server = { provider: scalarValue('local'), confirmed: scalarValue(!confirmEmail) }
  return hashUserValues(new Map([...values, ...Object.entries(server)]), model)
}

/** Registration may not set relations. */
const PARSE_TERMS: ParseTerms = {
  strictness: 'full',
  purpose: 'make',
  componentIds: false,
  links: (_attribute, value, path) => ({
    targets: undefined,
    faults: [toFault(rule('cannot be set while registering'), path, value)],
  }),
}

async function insertUser(values: Values, transaction: Transaction, terms: IdentityTerms): Promise<Account> {
  const documentId = newDocumentId()
  await assertUnused(values, transaction, terms)
  const role = await findRole(terms.settings.register.role, transaction, terms)
  const user = { documentId, values: new Map([...values, ['role', roleValue(role)]]) }
  await saveUser(user, { email: TAKEN_MESSAGE, username: TAKEN_MESSAGE }, transaction, terms)
  const text = textValue(values, 'email')
  const account = await findAccount(transaction, { by: 'email', text }, terms)
  if (!account) throw new TypeError('a user that was just made is not there')
  return account
}

/** A username must not equal another user's address, and vice versa. saveUser checks equal columns. */
async function assertUnused(values: Values, transaction: Transaction, terms: IdentityTerms): Promise<void> {
  for (const name of ['username', 'email']) {
    const found = await findAccount(transaction, { by: 'identifier', text: textValue(values, name) }, terms)
    if (found) throw new RequestFault(fault('application', TAKEN_MESSAGE))
  }
}

function textValue(values: Values, name: string): string {
  const value = values.get(name)
  return value?.kind === 'scalar' ? String(value.value) : ''
}
