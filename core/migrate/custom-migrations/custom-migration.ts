/** A file of the project's migrations/ folder. */
export interface CustomMigration {
  /** The file's name: `2026-11-21-split-name.before.sql`. */
  readonly name: string
  /** The moment of its run, relative to the generated steps. */
  readonly moment: 'before' | 'after'
  /** The checksum of the file's text. */
  readonly checksum: string
  /** Rejects if its module cannot be loaded. */
  load(): Promise<CustomMigrationCode>
}

export type CustomMigrationCode = (
  | { readonly kind: 'sql'; readonly text: string }
  | { readonly kind: 'code'; run(tools: MigrationTools): unknown }
) & {
  /** True if it also runs in new databases. */
  readonly newDatabases: boolean
}

export interface MigrationTools {
  readonly sql: Sql
}

/**
 * Runs one statement in the migration's transaction and resolves to its rows. Values are sent as parameters, never as text:
 * `` sql`UPDATE books SET pages = ${pages}` ``.
 */
export type Sql = <Row extends object = Readonly<Record<string, unknown>>>(
  text: TemplateStringsArray,
  ...values: readonly unknown[]
) => Promise<readonly Row[]>
