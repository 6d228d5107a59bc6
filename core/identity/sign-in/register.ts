import { failed, ok, type Result } from '../../base/result.ts'
import type { Transaction } from '../../database/database.ts'
import type { Values } from '../../documents/desired-state.ts'
import { newDocumentId } from '../../documents/rows/document-id.ts'
import { type ParseTerms, parseValues } from '../../documents/values/parse-attribute.ts'
import { toRefusal } from '../../documents/values/refusal.ts'
import { rule, toFault } from '../../documents/values/value-fault.ts'
import { type Fault, fault, RequestFault } from '../../faults/fault.ts'
import { mailConfirmation } from '../confirm-email.ts'
import type { IdentityTerms, SignedIn } from '../identity.ts'
import { type Body, parseCredentials } from '../parse-credentials.ts'
import { type Account, findAccount } from '../users/accounts.ts'
import { findRole, hashUserValues, roleValue, saveUser, scalarValue } from '../users/save-user.ts'
import { scalarOf } from '../users/user-values.ts'
import { withUsername } from '../users/username.ts'
import { writeAccount } from '../users/write-account.ts'
import { signedIn } from './sign-in.ts'

const ASKED = ['email', 'username', 'password'] as const

const TAKEN = 'Email or Username are already taken'

/** A new user of the role that the project gives them. Other keys than it allows are refused (safety S6). */
export async function register(body: Body, terms: IdentityTerms): Promise<Result<SignedIn, Fault>> {
  if (!terms.settings.register.enabled)
    return failed(fault('application', 'Register action is currently disabled'))
  const values = await parseRegistration(withUsername(body), terms)
  if (!values.ok) return values
  const made = await writeAccount(async (transaction, tell) => {
    const account = await makeUser(values.value, transaction, terms)
    tell(account, 'create', [...values.value.keys(), 'role'])
    return account
  }, terms)
  if (!made.ok) return failed(...made.reasons.map(inOwnWords))
  if (!terms.settings.register.confirmEmail) return ok(await signedIn(made.value, terms))
  terms.background.start(() => mailConfirmation(made.value, terms))
  return ok({ jwt: null, documentId: made.value.documentId })
}

/** What somebody took at the same moment is told as what was taken before. */
function inOwnWords(found: Fault): Fault {
  const { errors } = found.details
  const [first]: readonly { readonly path?: readonly string[] }[] = Array.isArray(errors) ? errors : []
  return first?.path?.some(name => name === 'email' || name === 'username')
    ? fault('application', TAKEN)
    : found
}

async function parseRegistration(
  body: Body,
  { settings, model }: IdentityTerms,
): Promise<Result<Values, Fault>> {
  const { allowedFields, confirmEmail } = settings.register
  const allowed: ReadonlySet<string> = new Set([...ASKED, ...allowedFields])
  const wrong = Object.keys(body).filter(key => !allowed.has(key))
  if (wrong.length > 0) return failed(fault('validation', `Invalid parameters: ${wrong.join(', ')}`))
  const rules = ASKED.map(name => ({ name, attribute: scalarOf(model.builtIn.user, name) }))
  const credentials = parseCredentials(body, rules)
  if (!credentials.ok) return credentials
  const { values, faults } = parseValues(model.builtIn.user, body, PARSING)
  const refusal = toRefusal(faults)
  if (refusal) return failed(refusal)
  const server = { provider: scalarValue('local'), confirmed: scalarValue(!confirmEmail) }
  return ok(await hashUserValues(new Map([...values, ...Object.entries(server)]), model))
}

/** Whoever is not known yet links to nothing. */
const PARSING: ParseTerms = {
  strictness: 'full',
  purpose: 'make',
  componentIds: false,
  links: (_attribute, value, path) => ({
    targets: undefined,
    faults: [toFault(rule('cannot be set while registering'), path, value)],
  }),
}

async function makeUser(values: Values, transaction: Transaction, terms: IdentityTerms): Promise<Account> {
  const documentId = newDocumentId()
  await assertOwn(values, transaction, terms)
  const role = await findRole(terms.settings.register.role, transaction, terms)
  const user = { documentId, values: new Map([...values, ['role', roleValue(role)]]) }
  await saveUser(user, { email: TAKEN, username: TAKEN }, transaction, terms)
  const text = textOf(values, 'email')
  const account = await findAccount(transaction, { by: 'email', text }, terms)
  if (!account) throw new TypeError('a user that was just made is not there')
  return account
}

/** Neither is how somebody else signs in: nobody's name is another's address (saveUser tells of equal ones). */
async function assertOwn(values: Values, transaction: Transaction, terms: IdentityTerms): Promise<void> {
  for (const name of ['username', 'email']) {
    const found = await findAccount(transaction, { by: 'identifier', text: textOf(values, name) }, terms)
    if (found) throw new RequestFault(fault('application', TAKEN))
  }
}

function textOf(values: Values, name: string): string {
  const value = values.get(name)
  return value?.kind === 'scalar' ? String(value.value) : ''
}
