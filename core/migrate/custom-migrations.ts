/** A step of a migration that somebody wrote by hand: a file of migrations/. */
export interface CustomMigration {
  /** The file's name: `2026-11-21-split-name.before.sql`. */
  readonly name: string
  /** Whether it comes before the generated steps, or after them. */
  readonly moment: 'before' | 'after'
  /** Of the file's text. */
  readonly checksum: string
  /** What it does. Rejects where its module cannot be loaded. */
  load(): Promise<CustomMigrationCode>
}

export type CustomMigrationCode = (
  | { readonly kind: 'sql'; readonly text: string }
  | { readonly kind: 'code'; run(tools: MigrationTools): unknown }
) & {
  /** Whether databases that are made from now on need it too. */
  readonly newDatabases: boolean
}

export interface MigrationTools {
  readonly sql: Sql
}

/**
 * Runs one statement in the migration's transaction; answers its rows. Values in it are sent as parameters, never as
 * text: `` sql`UPDATE books SET pages = ${pages}` ``.
 */
export type Sql = <Row extends object = Readonly<Record<string, unknown>>>(
  text: TemplateStringsArray,
  ...values: readonly unknown[]
) => Promise<readonly Row[]>
