import test from 'ava'
import { migrate } from '../../core/migrate/migrate.ts'
import { openTestDatabase, testServer } from '../harness/test-database.ts'
import { storageOf } from '../model/compiled.ts'

/** The embedded database takes some ten times as long; so many are still made in more than one transaction. */
const TYPES = testServer() ? 500 : 150

const manyTypes = (): string => {
  const types = Array.from({ length: TYPES }, (_, index) => {
    const next = `type${(index + 1) % TYPES}`
    const links = `next: { type: relation, relation: manyToOne, target: ${next} }, all: { type: relation, relation: manyToMany, target: ${next} }`
    const values =
      'title: { type: string, required: true }, slug: { type: uid }, kind: { type: enumeration, enum: [a, b] }'
    return `  type${index}: { draftAndPublish: true, attributes: { ${values}, ${links}, images: { type: media, multiple: true } } }`
  })
  return `contentTypes:\n${types.join('\n')}\n`
}

test(`a project of ${TYPES} content-types is created, and needs no change at the next start`, async t => {
  const database = await openTestDatabase(t)
  const { tables } = await storageOf(manyTypes())
  const timed = async (what: string) => {
    const start = performance.now()
    const result = await migrate(database, tables)
    t.log(`${what}: ${Math.round(performance.now() - start)} ms for ${tables.length} tables`)
    return result.ok ? result.value.steps.length : result.reasons
  }
  t.is(await timed('create'), tables.length)
  t.is(await timed('next start'), 0)
  await database.run({ text: `UPDATE plinth_migrations SET fingerprint = 'another'`, values: [] })
  t.is(await timed('next start, comparing everything'), 0)
})
