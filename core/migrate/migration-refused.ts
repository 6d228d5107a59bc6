import type { SchemaRefusal } from './schema/finding.ts'

/** Carries refusals out of the transaction, which is rolled back by it. */
export class MigrationRefused extends Error {
  override readonly name = 'MigrationRefused'
  readonly refusals: readonly SchemaRefusal[]

  constructor(refusals: readonly SchemaRefusal[]) {
    super('the migration was refused')
    this.refusals = refusals
  }
}
