import { quoteConstant } from '../../sql/ddl.ts'
import { quoteIdentifier } from '../../sql/identifier.ts'
import { parametersOf, type SessionSettings } from '../session.ts'

interface ResetTerms {
  /** Who the session belongs to. */
  readonly user: string
  /** A regular expression of PostgreSQL: the names of prepared statements that stay. */
  readonly kept: string
}

/** SQL that undoes what a client may have changed of a session with which other clients go on. */
export const printReset = (settings: SessionSettings, { user, kept }: ResetTerms): string =>
  [
    // RESET does nothing here: the engine sets no user that it could go back to.
    `SET SESSION AUTHORIZATION ${quoteIdentifier(user)}`,
    'RESET ROLE',
    'RESET ALL',
    ...Object.entries(parametersOf(settings)).map(
      ([name, value]) => `SELECT set_config(${quoteConstant(name)}, ${quoteConstant(value)}, false)`,
    ),
    'CLOSE ALL',
    'DISCARD TEMP',
    `DO ${quoteConstant(`DECLARE statement text; BEGIN
      FOR statement IN SELECT name FROM pg_prepared_statements WHERE name !~ ${quoteConstant(kept)} LOOP
        EXECUTE format('DEALLOCATE %I', statement);
      END LOOP;
    END`)}`,
  ].join(';\n')
