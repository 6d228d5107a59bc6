import { openDatabase } from '../../core/database/open-database.ts'
import { DATABASE_SETTINGS } from './database-settings.ts'

/** Runs a statement while no command has the database open. */
export async function runSql(root: string, url: string, text: string): Promise<void> {
  const opened = await openDatabase({ ...DATABASE_SETTINGS, url }, { root, observe: () => {} })
  if (!opened.ok) throw new Error(opened.reasons.map(({ message }) => message).join('\n'))
  await opened.value.run({ text, values: [] })
  await opened.value.close()
}
