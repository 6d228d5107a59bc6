import { type Fault, type FaultCode, type FaultDetails, fault, RequestFault } from './fault.ts'

/**
 * Errors by the names that plugins know them by: whoever throws one answers the request with its status, its
 * message and its details. Any other error answers 500 and tells nothing.
 */
export class ApplicationError extends RequestFault {
  constructor(message = 'An application error occurred', details: FaultDetails = {}) {
    super(fault('application', message, details))
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

export class RateLimitError extends RequestFault {
  constructor(message = 'Too many requests, please try again later.', details: FaultDetails = {}) {
    super(fault('rateLimit', message, details))
  }
}

/** What a document action throws where the database did not do its part; `details.outcome` says whether it was written. */
export class UnavailableError extends RequestFault {
  constructor(message = 'Service Unavailable', details: FaultDetails = {}, options: ErrorOptions = {}) {
    super(fault('unavailable', message, details))
    if (options.cause !== undefined) this.cause = options.cause
  }
}

const ERRORS: {
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
  rateLimit: RateLimitError,
  unavailable: UnavailableError,
}

/** A fault as the error that plugins can tell by its class. */
export function toError(fault: Fault): RequestFault {
  const Known = ERRORS[fault.code]
  return Known ? new Known(fault.message, fault.details) : new RequestFault(fault)
}
