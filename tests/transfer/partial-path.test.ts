import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { partialPath } from '../../tools/transfer/partial-path.ts'
import { temporaryFolder } from '../harness/folder.ts'

/** Larger than the ids of Linux. */
const ENDED = 2_147_483_646

test('incomplete files of ended processes are removed, those of running ones and of other files are kept', async t => {
  const folder = temporaryFolder()
  t.teardown(folder.remove)
  const kept = [
    `all.ndjson.${process.ppid}.part`,
    'all.ndjson',
    'all.ndjson.part',
    `all.ndjson.${ENDED}.part.gz`,
    `all-ndjson.${ENDED}.part`,
    `more.all.ndjson.${ENDED}.part`,
    `all.ndjson.old.${ENDED}.part`,
  ]
  for (const name of [...kept, `all.ndjson.${ENDED}.part`, `all.ndjson.${process.pid}.part`])
    folder.write(name, 'hashes')
  const path = join(folder.path, 'all.ndjson')
  t.is(await partialPath(path), `${path}.${process.pid}.part`)
  t.deepEqual(readdirSync(folder.path).toSorted(), kept.toSorted())
})
