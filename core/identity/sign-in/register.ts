import { failed, ok, type Result } from '../../base/result.ts'
import type { Transaction } from '../../database/database.ts'
import type { Values } from '../../documents/desired-state.ts'
import { newDocumentId } from '../../documents/rows/document-id.ts'
import { type ParseTerms, parseValues } from '../../documents/values/parse-attribute.ts'
import { rule, toFault, toRefusal } from '../../documents/values/value-fault.ts'
import { type Fault, fault, RequestFault } from '../../faults/fault.ts'
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
export async function register(body: AuthBody, terms: IdentityTerms): Promise<Result<SignedIn, Fault>> {
  if (!terms.settings.register.enabled)
    return failed(fault('application', 'Register action is currently disabled'))
  const values = await parseRegistration(withUsername(body), terms)
  if (!values.ok) return values
  const made = await writeAccount(async (transaction, recordEvent) => {
    const account = await insertUser(values.value, transaction, terms)
    recordEvent(account, 'create', [...values.value.keys(), 'role'])
    return account
  }, terms)
  if (!made.ok) return failed(...made.reasons.map(toTakenFault))
  if (!terms.settings.register.confirmEmail) return ok(await issueSession(made.value, terms))
  terms.background.start(() => mailConfirmation(made.value, terms))
  return ok({ jwt: null, documentId: made.value.documentId })
}

/** A unique violation by a concurrent registration is reported like a value that was taken before. */
function toTakenFault(found: Fault): Fault {
  const { errors } = found.details
  const [first]: readonly { readonly path?: readonly string[] }[] = Array.isArray(errors) ? errors : []
  return first?.path?.some(name => name === 'email' || name === 'username')
    ? fault('application', TAKEN_MESSAGE)
    : found
}

async function parseRegistration(
  body: AuthBody,
  { settings, model }: IdentityTerms,
): Promise<Result<Values, Fault>> {
  const { allowedFields, confirmEmail } = settings.register
  const allowed: ReadonlySet<string> = new Set([...REQUIRED_FIELDS, ...allowedFields])
  const wrong = Object.keys(body).filter(key => !allowed.has(key))
  if (wrong.length > 0) return failed(fault('validation', `Invalid parameters: ${wrong.join(', ')}`))
  const rules = REQUIRED_FIELDS.map(name => ({ name, attribute: requireScalar(model.builtIn.user, name) }))
  const credentials = parseCredentials(body, rules)
  if (!credentials.ok) return credentials
  const { values, faults } = parseValues(model.builtIn.user, body, PARSE_TERMS)
  const refusal = toRefusal(faults)
  if (refusal) return failed(refusal)
  const server = { provider: scalarValue('local'), confirmed: scalarValue(!confirmEmail) }
  return ok(await hashUserValues(new Map([...values, ...Object.entries(server)]), model))
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
