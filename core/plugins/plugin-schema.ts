/** A JSON Schema (draft 2020-12) that the project file's `config` or `options` must meet at load. */
export type PluginSchema = Readonly<Record<string, unknown>>
