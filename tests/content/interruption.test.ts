import test from 'ava'
import { compileApp } from '../../core/app/compile-app.ts'
import { writeContent } from '../../core/content/write-content.ts'
import type { Database, Transaction } from '../../core/database/database.ts'
import { NO_OUTBOX } from '../../core/documents/outbox.ts'
import { openLocalStorage } from '../../core/media/storage/open-storage.ts'
import { openSite } from './site.ts'

const PROJECT = `
components: { part.word: { attributes: { text: string } } }
contentTypes:
  page:
    draftAndPublish: true
    attributes:
      title: { type: string, required: true }
      word: { type: component, component: part.word }
      notes: { type: relation, relation: manyToMany, target: note, inversedBy: pages }
  note: { attributes: { name: string, pages: { type: relation, relation: manyToMany, target: page, mappedBy: notes } } }
`

class Interrupted extends Error {}

/** A database whose connection breaks before the statement of this number. */
function interruptedAt(database: Database, number: number): Database {
  let seen = 0
  const guard = (transaction: Transaction): Transaction => ({
    ...transaction,
    run(statement) {
      if (seen++ === number) throw new Interrupted()
      return transaction.run(statement)
    },
    send(statement) {
      if (seen++ === number) throw new Interrupted()
      transaction.send(statement)
    },
  })
  return {
    ...database,
    transaction: (work, options) => database.transaction(each => work(guard(each)), options),
  }
}

test('an interrupted write of content/ leaves nothing behind, and the next start writes everything', async t => {
  const site = await openSite(t, { 'project.yaml': PROJECT })
  await site.must()
  site.folder.write('content/pages.yaml', '[{ documentId: a, title: A, word: { text: x }, notes: [n] }]')
  site.folder.write('content/notes.yaml', '[{ documentId: n, name: N, pages: [a] }]')
  const compiled = await compileApp(site.folder.path, {})
  if (!compiled.ok) throw new Error('the project is good')
  const { content, model, storage } = compiled.value
  const options = {
    model,
    storage,
    files: openLocalStorage(site.folder.path),
    outbox: NO_OUTBOX,
    beforeUsers: async () => {},
  }
  let interruptions = 0
  for (;;) {
    try {
      await writeContent(content, { ...options, database: interruptedAt(site.database, interruptions) })
      break
    } catch (error) {
      if (!(error instanceof Interrupted)) throw error
    }
    const counts = ['pages', 'notes', 'components_part_word', 'pages_notes_links', 'plinth_content']
    const left = await site.rows(counts.map(table => `SELECT 1 FROM ${table}`).join(' UNION ALL '))
    t.deepEqual(left, [], `statement ${interruptions}`)
    interruptions++
  }
  t.true(interruptions >= 8)
  t.is((await site.get('pages/a?populate=notes')).notes[0].documentId, 'n')
})

test('two servers that start concurrently write each document once', async t => {
  const site = await openSite(t, { 'project.yaml': PROJECT })
  await site.must()
  site.folder.write('content/notes.yaml', '[{ documentId: n, name: N }, { name: M }]')
  const compiled = await compileApp(site.folder.path, {})
  if (!compiled.ok) throw new Error('the project is good')
  const { content, model, storage } = compiled.value
  const options = {
    database: site.database,
    model,
    storage,
    files: openLocalStorage(site.folder.path),
    outbox: NO_OUTBOX,
    beforeUsers: async () => {},
  }
  const reports = await Promise.all([writeContent(content, options), writeContent(content, options)])
  const written = reports.map(report => (report.ok ? (report.value.written.get('api::note.note') ?? 0) : -1))
  t.deepEqual(written.toSorted(), [0, 2])
  t.is((await site.get('notes')).length, 2)
})
