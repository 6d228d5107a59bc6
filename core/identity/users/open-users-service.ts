import { countUsers, findMe, findUser, findUsers } from './read-users.ts'
import type { UsersService } from './users-service.ts'
import type { UsersServiceTerms } from './users-terms.ts'
import { createUser, deleteUser, updateUser } from './write-users.ts'

export const openUsersService = (terms: UsersServiceTerms): UsersService => ({
  findMany: (query, caller) => findUsers(query, caller, terms),
  count: (query, caller) => countUsers(query, caller, terms),
  findOne: (id, query, caller) => findUser(id, { query, caller }, terms),
  me: (query, caller) => findMe(query, caller, terms),
  create: (body, caller, selection) => createUser({ body, caller, selection }, terms),
  update: (id, change) => updateUser(id, change, terms),
  delete: (id, caller, selection) => deleteUser(id, { caller, selection }, terms),
})
