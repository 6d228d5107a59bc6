// The exports of `import … from 'plinth'` in a plugin. They come from the running server, not from the project's packages.
export { AbilityError } from '../access/ability/ability-error.ts'
export { subject } from '../access/ability/open-ability.ts'
export {
  ApplicationError,
  BadRequestError,
  ConflictError,
  ForbiddenError,
  NotFoundError,
  PayloadTooLargeError,
  PolicyError,
  RateLimitError,
  UnauthorizedError,
  UnavailableError,
  ValidationError,
} from '../faults/errors.ts'
export { MailError } from '../mail/mail.ts'
export { defineExtension } from './extension.ts'
export { defineMiddleware } from './middleware.ts'
export { defineMigration } from './migration.ts'
export { definePolicy } from './policy.ts'
