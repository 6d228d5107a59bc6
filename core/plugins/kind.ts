/** What a plugin's module exports. */
export type PluginKind = 'policy' | 'middleware' | 'extension'

/** What a module of migrations/ exports is no plugin: it takes part in no request. */
type ModuleKind = PluginKind | 'migration'

/** Tells what define… made from anything else; registered, so that two copies of the package know each other's. */
export const KIND: unique symbol = Symbol.for('plinth.plugin')

const KINDS: readonly ModuleKind[] = ['policy', 'middleware', 'extension', 'migration']

/** null: nothing that define… made. */
export function kindOf(value: unknown): ModuleKind | null {
  if (typeof value !== 'object' || value === null || !(KIND in value)) return null
  const kind = value[KIND]
  return KINDS.find(one => one === kind) ?? null
}
