import { type Fault, type FaultCode, type FaultDetails, fault, RequestFault } from './fault.ts'

/**
 * The error classes for plugins. A thrown one answers the request with its status, message and details. Any other error
 * answers 500 without details.
 */
export class ApplicationError extends RequestFault {
  constructor(message = 'An application error occurred', details: FaultDetails = {}) {
    super(fault('application', message, details))
  }
}

/** Strapi's `ctx.badRequest(message, details)`. */
export class BadRequestError extends RequestFault {
  constructor(message = 'Bad Request', details: FaultDetails = {}) {
    super(fault('rejected', message, details))
  }
}

export class ValidationError extends RequestFault {
  constructor(message: string, details: FaultDetails = {}) {
    super(fault('validation', message, details))
  }
}

export class UnauthorizedError extends RequestFault {
  constructor(message = 'Unauthorized', details: FaultDetails = {}) {
    super(fault('unauthorized', message, details))
  }
}

export class ForbiddenError extends RequestFault {
  constructor(message = 'Forbidden', details: FaultDetails = {}) {
    super(fault('forbidden', message, details))
  }
}

export class PolicyError extends RequestFault {
  constructor(message = 'Policy Failed', details: FaultDetails = {}) {
    super(fault('policy', message, details))
  }
}

export class NotFoundError extends RequestFault {
  constructor(message = 'Not Found', details: FaultDetails = {}) {
    super(fault('notFound', message, details))
  }
}

export class ConflictError extends RequestFault {
  constructor(message = 'Conflict', details: FaultDetails = {}) {
    super(fault('conflict', message, details))
  }
}

export class PayloadTooLargeError extends RequestFault {
  constructor(message = 'Entity too large', details: FaultDetails = {}) {
    super(fault('tooLarge', message, details))
  }
}

export class RateLimitError extends RequestFault {
  constructor(message = 'Too many requests, please try again later.', details: FaultDetails = {}) {
    super(fault('rateLimit', message, details))
  }
}

/** Thrown by document actions when the database is unavailable; `details.outcome` says whether data was written. */
export class UnavailableError extends RequestFault {
  constructor(message = 'Service Unavailable', details: FaultDetails = {}, options: ErrorOptions = {}) {
    super(fault('unavailable', message, details))
    if (options.cause !== undefined) this.cause = options.cause
  }
}

const ERROR_CLASSES: {
  readonly [Code in FaultCode]?: new (
    message: string,
    details: FaultDetails,
  ) => RequestFault
} = {
  application: ApplicationError,
  validation: ValidationError,
  unauthorized: UnauthorizedError,
  forbidden: ForbiddenError,
  policy: PolicyError,
  notFound: NotFoundError,
  rejected: BadRequestError,
  conflict: ConflictError,
  tooLarge: PayloadTooLargeError,
  rateLimit: RateLimitError,
  unavailable: UnavailableError,
}

/** Wraps a fault in the error class that plugins can test with `instanceof`. It keeps the reason, which the log and explained denials have. */
export function toPluginError(fault: Fault): RequestFault {
  const Known = ERROR_CLASSES[fault.code]
  return Known ? Object.assign(new Known(fault.message, fault.details), { fault }) : new RequestFault(fault)
}
