/** What a plugin's module exports. */
export type PluginKind = 'policy' | 'middleware' | 'extension'

/** Tells what define… made from anything else; registered, so that two copies of the package know each other's. */
export const KIND: unique symbol = Symbol.for('plinth.plugin')

/** null: nothing that define… made. */
export function kindOf(value: unknown): PluginKind | null {
  if (typeof value !== 'object' || value === null || !(KIND in value)) return null
  const kind = value[KIND]
  return kind === 'policy' || kind === 'middleware' || kind === 'extension' ? kind : null
}
