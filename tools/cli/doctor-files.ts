import { openCommandStorage } from '../../core/app/open-plugins.ts'
import { printReason } from '../../core/app/start-fault.ts'
import { counted } from '../../core/doctor/advice.ts'
import { fromWorkingDirectory, printDiagnostic } from '../../core/faults/diagnostic.ts'
import type { FileStorage, StoredEntry } from '../../core/media/storage/file-storage.ts'
import { findUnusedFiles, ImportRuns, removeUnusedFiles } from '../../core/media/unused-files.ts'
import { planMigration } from '../../core/migrate/plan-migration.ts'
import { loadPlugins } from '../../core/plugins/load/load-plugins.ts'
import type { CommandContext } from './command-options.ts'
import { withDatabase } from './project-database.ts'
import { loadStoredProject, printReasons } from './schema-project.ts'
import { OUT_OF_STEP } from './transfer-project.ts'

interface FileCheckOptions extends CommandContext {
  readonly json: boolean
  /** Removes what is listed. */
  readonly removes: boolean
}

/**
 * `plinth doctor --files`: lists stored files that no record names and that are older than a day, and removes them on demand.
 * Returns the exit code: 1 if they could not be listed or removed.
 */
export async function runFileCheck(options: FileCheckOptions): Promise<0 | 1> {
  const loaded = await loadStoredProject(options)
  if (!loaded.ok) return printReasons(options, loaded.reasons)
  const { project, model, storage } = loaded.value
  const plugins = await loadPlugins(project, model)
  if (!plugins.ok)
    return printReasons(
      options,
      plugins.reasons.map(fromWorkingDirectory(options.folder)).map(printDiagnostic),
    )
  const opened = await openCommandStorage({ project, model, plugins: plugins.value })
  if (!opened.ok) return printReasons(options, opened.reasons.map(printReason))
  const files = opened.value
  if (!canList(files))
    return printReasons(options, [`The storage \`${files.provider}\` cannot list its files`])
  const looked = await withDatabase(
    project,
    async database => {
      const { steps, refusals } = await planMigration(database, storage.tables)
      if (steps.length + refusals.length > 0) return OUT_OF_STEP
      const site = { database, model, storage, files }
      const unused = await findUnusedFiles(site)
      const removed = options.removes ? await removeUnusedFiles(unused, site) : null
      options.write(print(unused, removed, options))
      return null
    },
    options,
  ).catch((error: unknown) => {
    if (error instanceof ImportRuns) return { ok: true, value: IMPORT_RUNS } as const
    throw error
  })
  if (!looked.ok) return printReasons(options, looked.reasons)
  return looked.value === null ? 0 : printReasons(options, [looked.value])
}

const IMPORT_RUNS =
  'An import is not finished, and may need files that have no record yet: nothing was removed. Complete it with `plinth import`'

const canList = (files: FileStorage): files is FileStorage & Required<Pick<FileStorage, 'list'>> =>
  files.list !== undefined

function print(
  unused: readonly StoredEntry[],
  removed: number | null,
  { json }: Pick<FileCheckOptions, 'json'>,
): string {
  const entries = unused.map(({ storedAt, ...entry }) => ({
    ...entry,
    storedAt: new Date(storedAt).toISOString(),
  }))
  if (json) return `${JSON.stringify({ files: entries, removed })}\n`
  const lines = entries.map(({ key, size, storedAt }) => `${key}  ${counted(size)} bytes, ${storedAt}`)
  const head = `${counted(unused.length)} stored files of more than a day have no record`
  const tail =
    removed !== null
      ? `${counted(removed)} of them were removed`
      : 'unless the storage has files of another project or database, `--remove` removes them'
  return `${[...lines, unused.length === 0 ? head : `${head}: ${tail}`].join('\n')}\n`
}
