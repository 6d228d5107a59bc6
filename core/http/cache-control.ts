import type { HttpRequest, HttpResponse } from '../faults/http-exchange.ts'

/**
 * Caching directives for an answer that has none of its own. An answer to credentials is for one caller. Any other answer
 * may be stored, but has to be revalidated (by its ETag, if it has one) each time: the data may change at any moment.
 */
export function cacheControlFor(
  answer: HttpResponse,
  { headers }: Pick<HttpRequest, 'headers'>,
): string | null {
  for (const name in answer.headers) if (name.toLowerCase() === 'cache-control') return null
  return headers.authorization === undefined ? 'no-cache' : 'private'
}
