import { tmpdir } from 'node:os'
import test from 'ava'
import { startMaintenance, vacuumChanged } from '../../core/database/embedded/open-embedded.ts'
import { openDatabase } from '../../core/database/open-database.ts'
import type { DatabaseObservation } from '../../core/database/open-options.ts'
import { DATABASE_SETTINGS } from '../harness/database-settings.ts'
import { snapshot } from '../harness/embedded-files.ts'

test('an embedded database vacuums and analyzes its tables without a background process', async t => {
  const embedded = { dataDir: 'memory://', snapshot: await snapshot() }
  const opened = await openDatabase(DATABASE_SETTINGS, { root: tmpdir(), observe: () => {}, embedded })
  if (!opened.ok) return t.fail(opened.reasons[0]?.message)
  const database = opened.value
  t.teardown(() => database.close())
  await database.run({ text: 'CREATE TABLE "Plate" AS SELECT generate_series(1, 1000) AS id', values: [] })
  const rewrite = () => database.run({ text: 'UPDATE "Plate" SET id = id', values: [] })
  const size = async () =>
    (
      await database.run({
        text: `SELECT pg_relation_size('"Plate"'), reltuples FROM pg_class WHERE relname = 'Plate'`,
        values: [],
      })
    ).rows[0]
  await rewrite()
  await vacuumChanged(database)
  const [once, known] = (await size()) ?? []
  t.is(known, 1000)
  for (let time = 0; time < 5; time++) {
    await rewrite()
    await vacuumChanged(database)
  }
  const [later] = (await size()) ?? []
  t.true(Number(later) <= Number(once) * 1.5)
})

test('failed maintenance is logged, and does not stop the database', async t => {
  const embedded = { dataDir: 'memory://', snapshot: await snapshot() }
  const opened = await openDatabase(DATABASE_SETTINGS, { root: tmpdir(), observe: () => {}, embedded })
  if (!opened.ok) return t.fail(opened.reasons[0]?.message)
  await opened.value.close()
  const reported = await new Promise<DatabaseObservation>(resolve => {
    const upkeep = startMaintenance(opened.value, resolve, 10)
    t.teardown(upkeep.stop)
    // Upkeep alone keeps no process running.
    const patience = setInterval(() => {}, 1_000)
    t.teardown(() => clearInterval(patience))
  })
  t.is(reported.event, 'database.upkeep-failed')
})
