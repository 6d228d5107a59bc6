import type { Responder } from '../../faults/exchange.ts'
import { type Endpoint, openEndpoints } from '../endpoint.ts'
import {
  countUsers,
  createUser,
  deleteUser,
  findMe,
  findUser,
  findUsers,
  type PerformUsers,
  type UsersTerms,
  updateUser,
} from './users-perform.ts'

/** Users over REST, bare and by numeric id (contract/rest.md 14). */
export function openUsers(terms: UsersTerms): Responder {
  const on = (action: Endpoint['action'], perform: PerformUsers): Endpoint => ({
    subject: 'users',
    action,
    perform: visit => perform(visit, terms),
  })
  return openEndpoints(
    {
      users: { GET: on('find', findUsers), POST: on('create', createUser) },
      'users/count': { GET: on('count', countUsers) },
      'users/me': { GET: on('me', findMe) },
      'users/:id': {
        GET: on('findOne', findUser),
        PUT: on('update', updateUser),
        DELETE: on('delete', deleteUser),
      },
    },
    { ...terms, prefix: terms.settings.prefix },
  )
}
