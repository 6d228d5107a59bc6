import { isDeepStrictEqual } from 'node:util'
import { assertWrittenParameters } from '../../query/written-parameters.ts'
import type { RestQuery } from '../context.ts'

/** How plugins see the parameters of a route. */
export interface RouteArguments {
  /** Values of the path. */
  readonly named: Readonly<Record<string, string>>
  /** Parses a query string; null: it is malformed, and the route refuses it. */
  parse(search: string): Readonly<Record<string, unknown>> | null
}

/** The query of one request, which plugins read and change. It is parsed at the first read. */
export class SharedQuery {
  readonly #args: RouteArguments
  #search: string
  /** The parameters that the client sent; null: malformed, or not parsed yet. */
  #original: RestQuery | null = null
  #value: RestQuery | null = null

  constructor(search: string, args: RouteArguments) {
    this.#search = search
    this.#args = args
  }

  get search(): string {
    return this.#search
  }

  /** Replaces all parameters. With the question mark of a URL's `search`, the first one would be unknown and ignored. */
  set search(text: string) {
    if (typeof text !== 'string') throw new TypeError('http.request.search must be a query string')
    this.#search = text.replace(/^\?/, '')
    this.#original = null
    this.#value = null
  }

  get value(): RestQuery {
    if (this.#value) return this.#value
    // Objects of the parser have no prototype; a clone gives plugins plain objects.
    this.#original = structuredClone(this.#args.parse(this.#search))
    this.#value = structuredClone(this.#original ?? {})
    return this.#value
  }

  set value(value: RestQuery) {
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      throw new TypeError('context.query must be an object of parameters')
    this.#original ??= structuredClone(this.#args.parse(this.#search))
    this.#value = value
  }

  /** The parameters for readers; does not create a copy. */
  get parameters(): Readonly<Record<string, unknown>> {
    return this.#value ?? this.#args.parse(this.#search) ?? {}
  }

  /** The parameters if plugins changed them. A malformed query string stays, so that its route refuses it. */
  get changed(): RestQuery | undefined {
    if (!this.#value || !this.#original || isDeepStrictEqual(this.#value, this.#original)) return undefined
    assertWrittenParameters(this.#value, this.#original, { where: 'context.query' })
    return this.#value
  }
}
