import type { Responder } from '../faults/exchange.ts'
import { type EndpointVisit, openEndpoints } from './endpoint.ts'
import { countUsers, findMe, findUser, findUsers } from './users-read.ts'
import type { UsersTerms } from './users-visit.ts'
import { createUser, deleteUser, updateUser } from './users-write.ts'

/** Users over REST, bare and by numeric id (contract/rest.md 14). */
export const openUsers = (terms: UsersTerms): Responder =>
  openEndpoints(
    {
      users: {
        GET: { subject: 'users', action: 'find', perform: visit => findUsers(visit, terms) },
        POST: { subject: 'users', action: 'create', perform: visit => createUser(visit, terms) },
      },
      'users/count': {
        GET: { subject: 'users', action: 'count', perform: visit => countUsers(visit, terms) },
      },
      'users/me': { GET: { subject: 'users', action: 'me', perform: visit => findMe(visit, terms) } },
      'users/:id': {
        GET: { subject: 'users', action: 'findOne', perform: visit => findUser(visit, terms) },
        PUT: { subject: 'users', action: 'update', perform: visit => updateUser(visit, terms) },
        DELETE: {
          subject: 'users',
          action: 'delete',
          perform: (visit: EndpointVisit) => deleteUser(visit, terms),
        },
      },
    },
    { ...terms, prefix: terms.settings.prefix },
  )
