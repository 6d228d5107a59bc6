// What `import … from 'plinth'` is in a plugin: the running server's own, whatever the project's folder holds.
export {
  ApplicationError,
  ForbiddenError,
  NotFoundError,
  PolicyError,
  RateLimitError,
  UnauthorizedError,
  UnavailableError,
  ValidationError,
} from '../faults/errors.ts'
export { defineExtension } from './extension.ts'
export { defineMiddleware } from './middleware.ts'
export { defineMigration } from './migration.ts'
export { definePolicy } from './policy.ts'
