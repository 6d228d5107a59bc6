/** What code of Koa, as in Strapi, reads and writes in a context, and what has its place here. */
const REPLACEMENTS: Readonly<Record<string, string>> = {
  body: 'return the body, or use http.response.send(value)',
  status: 'use http.response.send(value, { status })',
  type: 'use http.response.send(value, { type })',
  response: 'use http.response',
  res: 'use http.response',
  set: 'use http.response.setHeader(name, value)',
  send: 'return the body, or use http.response.send(value)',
  created: 'use http.response.send(value, { status: 201 })',
  redirect: "use http.response.send(null, { status: 302 }) and setHeader('Location', url)",
  request: 'use http.request, and await http.request.json() for the body',
  req: 'use http.request',
  params: 'use args',
  headers: 'use http.request.headers',
  header: 'use http.request.headers',
  get: 'use http.request.headers',
  method: 'use http.request.method',
  path: 'use http.request.path',
  url: 'use http.request.path and http.request.search',
  ip: 'use http.request.peer',
  cookies: 'use http.request.headers.cookie, and http.response.setHeader',
  throw: "throw new NotFoundError(…) or another error of 'plinth'",
  assert: "throw new NotFoundError(…) or another error of 'plinth'",
  badRequest: 'throw new BadRequestError(…)',
  unauthorized: 'throw new UnauthorizedError(…)',
  forbidden: 'throw new ForbiddenError(…)',
  notFound: 'throw new NotFoundError(…)',
  conflict: 'throw new ConflictError(…)',
  internalServerError: 'throw new Error(…)',
}

const fail = (name: string, replacement: string): never => {
  throw new TypeError(`context.${name} is of Koa: ${replacement}`)
}

/** The prototype of contexts: names of Koa are errors that say what to write instead. */
export const KOA_NAMES: object = Object.freeze(
  Object.defineProperties(
    {},
    Object.fromEntries(
      Object.entries(REPLACEMENTS).map(([name, replacement]) => [
        name,
        { get: () => fail(name, replacement), set: () => fail(name, replacement) },
      ]),
    ),
  ),
)
