import { quoteConstant } from '../../sql/ddl.ts'
import { quoteIdentifier } from '../../sql/identifier.ts'
import { type SessionSettings, sessionParameters } from '../session.ts'

interface ResetTerms {
  /** The session's own user. */
  readonly user: string
  /** A PostgreSQL regular expression: prepared statements with matching names are kept. */
  readonly kept: string
}

/** SQL that undoes a client's changes of a session that other clients continue to use. */
export const printReset = (settings: SessionSettings, { user, kept }: ResetTerms): string =>
  [
    // RESET does nothing here: the engine sets no original user.
    `SET SESSION AUTHORIZATION ${quoteIdentifier(user)}`,
    'RESET ROLE',
    'RESET ALL',
    ...Object.entries(sessionParameters(settings)).map(
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
