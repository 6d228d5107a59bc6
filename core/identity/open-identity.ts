import { confirmEmail, sendEmailConfirmation } from './confirm-email.ts'
import type { IdentityService, IdentityTerms } from './identity.ts'
import { changePassword, forgotPassword, resetPassword } from './sign-in/change-password.ts'
import { register } from './sign-in/register.ts'
import { signIn } from './sign-in/sign-in.ts'

export const openIdentityService = (terms: IdentityTerms): IdentityService => ({
  signIn: (body, network) => signIn(body, network, terms),
  register: body => register(body, terms),
  changePassword: (body, caller) => changePassword(body, caller, terms),
  forgotPassword: body => forgotPassword(body, terms),
  resetPassword: (body, network) => resetPassword(body, network, terms),
  sendEmailConfirmation: body => sendEmailConfirmation(body, terms),
  confirmEmail: code => confirmEmail(code, terms),
})
