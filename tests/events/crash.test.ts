import { spawn } from 'node:child_process'
import { once } from 'node:events'
import test, { type ExecutionContext } from 'ava'
import { openDatabase } from '../../core/database/open-database.ts'
import type { DocumentEvent } from '../../core/events/events.ts'
import { openEvents } from '../../core/events/open-events.ts'
import { SILENT } from '../../core/observe/observation.ts'
import { DATABASE_SETTINGS } from '../harness/database-settings.ts'
import { program } from '../harness/program.ts'
import { projectFolder } from '../harness/project-folder.ts'
import { listener, model, TEST_TIMING, until } from './listening.ts'

const WRITER = program('tests/events/fixtures/write-and-die.ts')

/** Runs a process that writes a note and dies. Returns the events that the next process on the same database receives. */
async function heardAfter(
  t: ExecutionContext,
  moment: 'before' | 'during',
): Promise<readonly DocumentEvent[]> {
  const { folder, url } = await projectFolder(t)
  const child = spawn(process.execPath, [...WRITER, folder.path, url, moment], {
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  const [, signal] = await once(child, 'exit')
  t.is(signal, 'SIGKILL')
  const opened = await openDatabase({ ...DATABASE_SETTINGS, url }, { root: folder.path, observe: () => {} })
  if (!opened.ok) throw new Error(opened.reasons[0]?.message)
  const database = opened.value
  const heard: DocumentEvent[] = []
  const listeners = [listener('note.create', event => heard.push(event))]
  const events = openEvents({ database, model, listeners, observer: SILENT, timing: TEST_TIMING })
  t.teardown(async () => {
    await events.close()
    await database.close()
  })
  // Expires the claim of the dead process without waiting for it.
  if (moment === 'during')
    await database.run({ text: "UPDATE plinth_outbox SET due_at = due_at - interval '60 s'", values: [] })
  events.start()
  await until(() => heard.length > 0)
  await events.settled()
  const { rows } = await database.run({ text: 'SELECT text FROM notes', values: [] })
  t.deepEqual(rows, [['written before the end']])
  return heard
}

test('an event of a process that was killed right after the commit is delivered after the restart', async t => {
  const heard = await heardAfter(t, 'before')
  t.is(heard.length, 1)
  t.like(heard[0], { name: 'note.create', uid: 'api::note.note', locale: null })
})

test('an event whose listener was running when its process was killed is delivered again', async t => {
  const heard = await heardAfter(t, 'during')
  t.is(heard.length, 1)
})
