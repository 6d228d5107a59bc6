import { didYouMean, hintFor } from '../base/nearest.ts'

/** Kinds of plugin modules. */
export type PluginKind = 'policy' | 'middleware' | 'extension'

/** Migrations are modules but not plugins: they take no part in requests. */
type ModuleKind = PluginKind | 'migration'

/** Marks objects made by define…(). A registered symbol, so that two copies of the package recognise each other's. */
export const KIND: unique symbol = Symbol.for('plinth.plugin')

const KINDS: readonly ModuleKind[] = ['policy', 'middleware', 'extension', 'migration']

/** null: not made by define…(). */
export function moduleKind(value: unknown): ModuleKind | null {
  if (typeof value !== 'object' || value === null || !(KIND in value)) return null
  const kind = value[KIND]
  return KINDS.find(one => one === kind) ?? null
}

/** Throws for unknown keys: in JavaScript plugins TypeScript does not catch them, and they would be ignored silently. */
export function assertKnownKeys(input: object, known: readonly string[], what: string): void {
  const unknown = Object.keys(input).find(key => !known.includes(key))
  if (unknown === undefined) return
  throw new Error(
    `${what} has no key \`${unknown}\`${didYouMean(unknown, known)}; it may have ${known.join(', ')}`,
  )
}

/** Throws unless a definition is an object whose `functions` are functions and whose other keys are among `others`. */
export function assertDefinition(
  input: unknown,
  { functions, others = [] }: { readonly functions: readonly string[]; readonly others?: readonly string[] },
  what: string,
): asserts input is Readonly<Record<string, unknown>> {
  if (typeof input !== 'object' || input === null || Array.isArray(input))
    throw new Error(`${what} takes an object with ${functions.join(', ')}, found ${nameType(input)}`)
  assertKnownKeys(input, [...others, ...functions], what)
  for (const name of functions) {
    const value: unknown = Reflect.get(input, name)
    if (value !== undefined && typeof value !== 'function')
      throw new Error(`\`${name}\` of ${what} must be a function, found ${nameType(value)}`)
  }
}

/**
 * A prototype for what plugins get: a name that the object does not have is an error with the nearest one, because its call would
 * fail without it, and its value would be undefined. `what` names the object. Names that it has cost nothing.
 */
export const knownNames = (what: string): object =>
  new Proxy(
    {},
    {
      get(target, name, object: object) {
        if (typeof name === 'symbol' || name in target || ABSENT.has(name))
          return Reflect.get(target, name, object)
        throw new TypeError(`\`${what}\` has no \`${name}\`${hintFor(name, Object.keys(object))}`)
      },
    },
  )

/** What the language looks for in every value: whether it is a promise, and whether it writes its own JSON. */
const ABSENT: ReadonlySet<string> = new Set(['then', 'toJSON'])

/** The same object, whose unknown names are errors. */
export const withKnownNames = <Service extends object>(what: string, service: Service): Service =>
  Object.setPrototypeOf(service, knownNames(what))

/** `null`, `a list`, `a number`: what JavaScript code passed instead. */
export function nameType(value: unknown): string {
  if (value === null || value === undefined) return String(value)
  return Array.isArray(value) ? 'a list' : `${typeof value === 'object' ? 'an' : 'a'} ${typeof value}`
}

/** A JSON Schema (draft 2020-12) for `config` or `options` in project.yaml, checked when the project is loaded. */
export type PluginSchema = Readonly<Record<string, unknown>>
