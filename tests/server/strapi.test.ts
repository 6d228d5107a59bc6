import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { temporaryFolder } from '../harness/folder.ts'
import { administer, createDatabase } from '../harness/test-database.ts'
import { answersAsRecorded } from '../strapi/answers.ts'
import { recorded, runImport } from '../strapi/import.ts'

// Databases of real installations of Strapi 4.26 and 5.54, and their recorded answers.

const SERVER = process.env.TEST_DATABASE_URL ?? ''

for (const version of [4, 5] as const) {
  test(`a Strapi ${version} project returns the same responses after its import`, async t => {
    const { folder, url } = await imported(t, version)
    const file = readFileSync(join(folder, 'project.yaml'), 'utf8')
    t.regex(file, / {2}public:\n {4}permissions:\n {6}article: \[find, findOne, readDrafts\]/)
    t.regex(file, /category: \[find\]/, 'a type without drafts')
    t.regex(file, / {2}# `readDrafts`: in Strapi this role can read drafts/)
    await answersAsRecorded(t, version, { folder, environment: { DATABASE_URL: url } })
  })
}

test('dangling references of a Strapi database are counted, and other data is imported', async t => {
  const database = await createDatabase(t, SERVER)
  await administer(database, readFileSync(join(recorded(5), 'database.sql'), 'utf8'))
  await administer(database, DAMAGE)
  const out = temporaryFolder()
  t.teardown(out.remove)
  const file = join(out.path, 'documents.ndjson')
  out.write('documents.ndjson', 'of another import')
  const { code, out: report } = await runImport({
    dir: recorded(5),
    out: out.path,
    database,
    content: { file },
  })
  t.is(code, 0)
  t.true(
    report.includes(`  plinth import ${out.path} ${file} --files ${join(recorded(5), 'public', 'uploads')}`),
  )
  t.is(statSync(file).mode & 0o777, 0o600)
  t.deepEqual(
    lossesIn(report),
    [
      'api::article.article: the project has no locale `de`',
      'plugin::upload.file: its bytes are not in …/public/uploads',
      'api::article.article gallery: it leads to a `plugin::upload.file` that did not come over (4 times)',
      'api::article.article links: it holds a component that did not come over',
      'blocks.gallery images: it leads to a `plugin::upload.file` that did not come over (4 times)',
      ...KNOWN_LOSSES,
    ].toSorted(),
  )
  const lines = readFileSync(file, 'utf8').trim().split('\n')
  t.is(lines.length, 1 + 25 - 2)
})

/** Of every import of the recorded projects: an action of a controller, and an API token. No content is among them. */
const KNOWN_LOSSES = [
  '`api::article.article.archive` did not come over: Plinth has no such action. The extension that takes over says in `auth` who may call it',
  'the API token `Website` did not come over: `plinth token website --type read-only` makes another',
]

/** The lines of the report about lost content or access, without places in project.yaml. */
const lossesIn = (report: string): readonly string[] =>
  (report.split('Lost content or access:\n')[1]?.split('\n\n')[0] ?? '')
    .split('\n')
    .map(line =>
      line
        .trim()
        .replace(recorded(5), '…')
        .replace(/ \(project\.yaml:\d+\)$/, ''),
    )
    .toSorted()

/** A locale that was removed, a component and the bytes of a file that are gone. */
const DAMAGE = `
  UPDATE articles SET locale = 'de' WHERE id = 8;
  UPDATE articles_cmps SET cmp_id = 999 WHERE id = 2;
  UPDATE files SET hash = 'gone' WHERE id = 3;
`

/** Users sign in as they did; who was blocked is. */
/** The recorded installation in databases of its own: Strapi's, and the one that it was imported into. */
async function imported(t: ExecutionContext, version: 4 | 5): Promise<{ folder: string; url: string }> {
  const database = await createDatabase(t, SERVER)
  await administer(database, readFileSync(join(recorded(version), 'database.sql'), 'utf8'))
  const url = await createDatabase(t, SERVER)
  const out = temporaryFolder()
  t.teardown(out.remove)
  const {
    code,
    out: report,
    complaint,
  } = await runImport({
    dir: recorded(version),
    out: out.path,
    database,
    env: { DATABASE_URL: url },
  })
  t.is(code, 0, complaint)
  t.regex(report, /25 documents read: 3 file, 2 user, 4 article, /)
  t.deepEqual(lossesIn(report), KNOWN_LOSSES.toSorted())
  return { folder: out.path, url }
}
