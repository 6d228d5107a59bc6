import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import type { TestAnswer, TestApp } from '../../core/testing.ts'

interface PlanRequest {
  readonly method: string
  readonly path: string
  readonly token?: string | undefined
  readonly format?: string | undefined
}

interface Description {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
}

interface Operation {
  readonly responses: Readonly<Record<string, Response>>
}

type Response = Readonly<Record<string, unknown>>

/** Compares answers with the descriptions that the server gives to the same caller. */
export class AnswerCheck {
  /** The number of compared bodies by status. */
  readonly compared = new Counts()
  readonly #app: Pick<TestApp, 'request'>
  readonly #known = new Map<string, Promise<Checker>>()

  constructor(app: Pick<TestApp, 'request'>) {
    this.#app = app
  }

  /** null: the answer is as described; otherwise what is wrong with it. */
  async fault(asked: PlanRequest, answer: TestAnswer): Promise<string | null> {
    const key = `${asked.token} ${asked.format}`
    const known = this.#known.get(key) ?? this.#open(asked)
    this.#known.set(key, known)
    return (await known).fault(asked, answer)
  }

  async #open({ token, format }: PlanRequest): Promise<Checker> {
    const { status, body } = await this.#app.request('GET', '/api/openapi.json', {
      ...(token !== undefined && { token }),
      ...(format !== undefined && { headers: { 'strapi-response-format': format } }),
    })
    // A caller whose token is refused has no description: the public's has the body of a 401.
    if (status !== 200) return this.#open({ method: '', path: '', format })
    return new Checker(body as Description, this.compared)
  }
}

class Counts {
  readonly #counts = new Map<number, number>()

  add(status: number): void {
    this.#counts.set(status, this.get(status) + 1)
  }

  print(): string {
    return [...this.#counts].map(([status, count]) => `${count} × ${status}`).join(', ')
  }

  get(status: number): number {
    return this.#counts.get(status) ?? 0
  }
}

class Checker {
  readonly #compared: Counts
  readonly #description: Description
  readonly #ajv = new Ajv2020({ strict: false, validateFormats: false, validateSchema: false })
  readonly #compiled = new Map<string, ValidateFunction>()

  constructor(description: Description, compared: Counts) {
    this.#compared = compared
    this.#description = description
    this.#ajv.addSchema(description, 'api')
  }

  fault({ method, path }: PlanRequest, { status, body, headers }: TestAnswer): string | null {
    const isJson = method !== 'HEAD' && headers['content-type']?.includes('json') === true
    const found = this.#find(method, new URL(path, 'http://localhost').pathname)
    if (!found) {
      if (status < 400 && method !== 'OPTIONS') return `${status} of what is not described`
      if (!isJson || status < 400) return null
      this.#compared.add(status)
      return this.#validate(ANY_ERROR, body)
    }
    const [template, operation] = found
    const at = operation.responses[status] ? String(status) : 'default'
    const response = operation.responses[at]
    if (!response) return `${status} is not described`
    if (!isJson) return null
    this.#compared.add(status)
    const pointer = response.$ref ?? `#/paths/${pointerOf(template)}/${METHOD[method]}/responses/${at}`
    return this.#validate(`api${String(pointer)}/content/application~1json/schema`, body)
  }

  #validate(ref: string, body: unknown): string | null {
    const validate = this.#compiled.get(ref) ?? this.#ajv.compile({ $ref: ref })
    this.#compiled.set(ref, validate)
    return validate(body) ? null : this.#ajv.errorsText(validate.errors).slice(0, 600)
  }

  /** A path without parameters comes before one with them. */
  #find(method: string, path: string): readonly [string, Operation] | null {
    const below = path.toLowerCase().startsWith('/api/') ? path.slice(4).replace(/\/$/, '') : path
    const templates = Object.keys(this.#description.paths).filter(each => matches(each, below))
    const [best] = templates.sort((a, b) => a.split('{').length - b.split('{').length)
    const operation = best === undefined ? undefined : this.#description.paths[best]?.[METHOD[method] ?? '']
    return best !== undefined && operation ? [best, operation] : null
  }
}

/** The `default` of all operations. */
const ANY_ERROR = 'api#/components/responses/Error/content/application~1json/schema'

const METHOD: Readonly<Record<string, string>> = {
  ...{ GET: 'get', HEAD: 'get', POST: 'post', PUT: 'put', PATCH: 'patch', DELETE: 'delete' },
}

const pointerOf = (template: string): string =>
  template.replaceAll('~', '~0').replaceAll('/', '~1').replaceAll('{', '%7B').replaceAll('}', '%7D')

const matches = (template: string, path: string): boolean => {
  const [a, b] = [template.split('/'), path.split('/')]
  return (
    a.length === b.length &&
    a.every((word, at) => (word.startsWith('{') ? b[at] !== '' : word.toLowerCase() === b[at]?.toLowerCase()))
  )
}
