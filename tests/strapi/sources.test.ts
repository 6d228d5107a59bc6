import {
  cpSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import test, { type ExecutionContext } from 'ava'
import { Header } from 'tar'
import { ARCHIVE_LIMITS, type ArchiveLimits, readArchive } from '../../tools/strapi/read/read-archive.ts'
import { type Folder, temporaryFolder } from '../harness/folder.ts'
import { createDatabase } from '../harness/test-database.ts'
import { answersAsRecorded } from './answers.ts'
import { type ImporterOptions, type Recording, recorded, runImport, strapiProject } from './import.ts'

// A Strapi 5.54 exported the recorded project with `strapi export`, and imported it again into SQLite. A Strapi 4.26.2
// on SQLite was filled over REST, and exported. All of it was written by Strapi itself.

const data = (name: string, recording: Recording = 5): string => join(recorded(recording), 'data', name)
const KEY = 'secret-key'

const SERVER = process.env.TEST_DATABASE_URL

/** Imports into a folder and a database of its own. */
async function imports(t: ExecutionContext, source: Partial<ImporterOptions>, recording: Recording = 5) {
  const folder = temporaryFolder()
  t.teardown(folder.remove)
  const environment = { DATABASE_URL: SERVER ? await createDatabase(t, SERVER) : 'embedded' }
  const options = { dir: recorded(recording), out: folder.path, env: environment, ...source }
  const { code, complaint, out } = await runImport(options)
  return { folder: folder.path, environment, code, complaint, report: out }
}

function sqliteFile(
  t: ExecutionContext,
  recording: Recording = 5,
): { readonly folder: Folder; readonly file: string } {
  const folder = temporaryFolder()
  t.teardown(folder.remove)
  const file = join(folder.path, 'data.db')
  writeFileSync(file, gunzipSync(readFileSync(data('sqlite.db.gz', recording))))
  return { folder, file }
}

test('a Strapi project on SQLite returns the same responses after its import', async t => {
  const { code, complaint, report: _, ...project } = await imports(t, { database: sqliteFile(t).file })
  t.is(code, 0, complaint)
  // Strapi's own import numbered the documents again.
  await answersAsRecorded(t, 5, { ...project, keepsIds: false })
})

for (const [name, options] of [
  ['an archive', { archive: data('export.tar.gz') }],
  ['an encrypted archive', { archive: data('export.tar.gz.enc'), key: KEY }],
] as const) {
  test(`${name} of \`strapi export\` is imported with its files, and returns the same responses as Strapi`, async t => {
    const { code, complaint, report: _, ...project } = await imports(t, options)
    t.is(code, 0, complaint)
    await answersAsRecorded(t, 5, project)
  })
}

test('files of an archive that do not fit on the disk are a fault that names their folder', async t => {
  const folder = temporaryFolder()
  t.teardown(folder.remove)
  const uploads = join(folder.path, 'uploads')
  mkdirSync(uploads)
  // Linux: a device without room.
  symlinkSync('/dev/full', join(uploads, 'blue_edca552ce5.png'))
  const archive = data('export.tar.gz')
  const read = await readArchive({ archive, key: undefined, version: 5, uploads })
  const message = `The files of ${archive} could not be extracted to ${uploads}: ENOSPC: no space left on device, write`
  t.deepEqual(read, { ok: false, reasons: [message] })
})

for (const [name, source] of [
  ['a SQLite file', (t: ExecutionContext) => ({ database: sqliteFile(t, '4-sqlite').file })],
  ['an archive', () => ({ archive: data('export.tar.gz', '4-sqlite') })],
] as const) {
  test(`${name} of Strapi 4 is imported, and returns the same responses as Strapi`, async t => {
    const { code, complaint, report, ...project } = await imports(t, source(t), '4-sqlite')
    t.is(code, 0, complaint)
    t.regex(report, /25 documents read: 3 file, 3 user, 1 front-page, 11 story, 4 topic, 3 writer/)
    await answersAsRecorded(t, '4-sqlite', project)
  })
}

test('an unreadable source is refused with the reason, before documents are written', async t => {
  const { folder, file } = sqliteFile(t)
  const refusal = async (source: Omit<ImporterOptions, 'dir' | 'out'>) => {
    const { code, complaint } = await imports(t, source)
    t.is(code, 1)
    return complaint.replaceAll(folder.path, '').trim()
  }
  t.regex(await refusal({ database: 'mysql://a/b' }), /other databases cannot be read/)
  t.regex(await refusal({ database: join(folder.path, 'none.db') }), /--database: there is no file \/none.db/)
  t.regex(await refusal({ database: join(recorded(5), 'package.json') }), /is not a SQLite database/)
  folder.write('data.db-wal', 'changes')
  t.regex(await refusal({ database: file }), /data.db-wal holds changes .* stop Strapi first/)
  t.regex(await refusal({ archive: join(folder.path, 'none.tar') }), /--archive: there is no file/)
  t.regex(await refusal({ archive: join(recorded(5), 'package.json') }), /package.json/)
  t.regex(await refusal({ archive: data('export.tar.gz.enc') }), /is encrypted: give its key with --key/)
  t.regex(await refusal({ archive: data('export.tar.gz.enc'), key: 'wrong' }), /--key is not the key/)
  t.regex(await refusal({ key: KEY }), /it needs --archive/)
  t.regex(await refusal({ database: file, archive: data('export.tar.gz') }), /give one of them/)
})

test('a damaged archive is refused with the place of the damage, and leaves no files', async t => {
  const whole = readFileSync(data('export.tar.gz'))
  const tar = gunzipSync(whole)
  const invalid = Buffer.from(tar)
  invalid.write('!', tar.indexOf('{"type":"api::article.article"'))
  const damaged = {
    'cut.tar.gz': [whole.subarray(0, whole.length * 0.6), /cut\.tar\.gz could not be read/],
    'cut.tar': [tar.subarray(0, tar.length * 0.6), /cut\.tar could not be read: .*[Tt]runcated/],
    'invalid.tar.gz': [gzipSync(invalid), /could not be read: entities\/entities_\d+\.jsonl:\d+: /],
  } as const
  const archives = temporaryFolder()
  t.teardown(archives.remove)
  for (const [name, [bytes, reason]] of Object.entries(damaged)) {
    writeFileSync(join(archives.path, name), bytes)
    const { code, complaint, folder } = await imports(t, { archive: join(archives.path, name) })
    t.is(code, 1, name)
    t.regex(complaint, reason)
    t.deepEqual(readdirSync(folder), [], name)
  }
})

/** An entry of a tar archive: its header and its bytes, padded to blocks of 512. */
function tarEntry(
  options: { path: string; type?: 'File' | 'SymbolicLink' | 'Link'; linkpath?: string },
  text = '',
): Buffer {
  const bytes = Buffer.from(text)
  const header = Buffer.alloc(512)
  new Header({ type: 'File', mode: 0o644, size: bytes.length, mtime: new Date(0), ...options }).encode(header)
  return Buffer.concat([header, bytes, Buffer.alloc((512 - (bytes.length % 512)) % 512)])
}

const lines = (values: readonly object[]): string =>
  values.map(value => `${JSON.stringify(value)}\n`).join('')

test('links to documents of any content-type are imported from an archive as private json', async t => {
  const note = {
    uid: 'api::note.note',
    collectionName: 'notes',
    info: { singularName: 'note', pluralName: 'notes', displayName: 'Note' },
    attributes: {
      text: { type: 'string' },
      about: { type: 'relation', relation: 'morphToMany' },
      source: { type: 'relation', relation: 'morphToOne' },
    },
  }
  const page = {
    uid: 'api::page.page',
    collectionName: 'pages',
    info: { singularName: 'page', pluralName: 'pages', displayName: 'Page' },
    attributes: {
      title: { type: 'string' },
      notes: { type: 'relation', relation: 'morphMany', target: note.uid, morphBy: 'about' },
    },
  }
  const entity = ({ uid }: { readonly uid: string }, id: number) => ({
    type: uid,
    id,
    data: { documentId: `${uid.slice(5, 9)}-${id}` },
  })
  const link = (ref: number, field: string, right: object) => ({
    kind: 'relation.morph',
    left: { type: note.uid, ref, field },
    right,
  })
  const strapi = strapiProject({
    'src/api/note/content-types/note/schema.json': note,
    'src/api/page/content-types/page/schema.json': page,
  })
  t.teardown(strapi.remove)
  const archive = join(strapi.path, 'export.tar')
  const entries = [
    tarEntry({ path: 'schemas/schemas_00001.jsonl' }, lines([note, page])),
    tarEntry(
      { path: 'entities/entities_00001.jsonl' },
      lines([entity(note, 1), entity(note, 2), entity(page, 1), entity(page, 2)]),
    ),
    tarEntry(
      { path: 'links/links_00001.jsonl' },
      lines([
        link(1, 'about', { type: page.uid, ref: 1, field: 'notes', pos: 2 }),
        link(1, 'about', { type: page.uid, ref: 2, field: 'notes', pos: 1 }),
        link(2, 'source', { type: page.uid, ref: 2 }),
      ]),
    ),
  ]
  writeFileSync(archive, Buffer.concat([...entries, Buffer.alloc(1024)]))
  const content = join(strapi.path, 'documents.ndjson')
  const out = join(strapi.path, 'out')
  const done = await runImport({ dir: strapi.path, out, archive, content: { file: content } })
  t.is(done.code, 0, done.complaint)
  t.regex(done.out, /`notes` is left out: it is the other side of `about` of `api::note\.note`/)
  const yaml = readFileSync(join(out, 'project.yaml'), 'utf8')
  t.regex(yaml, /about: \{ type: json, private: true \}/)
  t.regex(yaml, /source: \{ type: json, private: true \}/)
  const [, ...documents] = readFileSync(content, 'utf8').trim().split('\n')
  const values = documents.map(text => JSON.parse(text).versions[0].values)
  const [first, second] = [1, 2].map(id => ({ id, type: page.uid, documentId: `page-${id}` }))
  t.deepEqual(values.slice(0, 2), [{ about: [second, first] }, { source: [second] }])
})

test('links of Strapi 4 to documents of other locales are kept, and those that show nothing are reported', async t => {
  const uid = 'api::page.page'
  const other = { type: 'relation', relation: 'oneToOne', target: uid }
  const page = {
    uid,
    collectionName: 'pages',
    info: { singularName: 'page', pluralName: 'pages', displayName: 'Page' },
    pluginOptions: { i18n: { localized: true } },
    attributes: { next: other, teaser: { type: 'component', component: 'shared.teaser' } },
  }
  const teaser = { uid: 'shared.teaser', collectionName: 'components_teasers', attributes: { to: other } }
  const strapi = strapiProject({
    'package.json': {
      name: 'site',
      dependencies: { '@strapi/strapi': '4.25.1', '@strapi/plugin-i18n': '4.25.1' },
    },
    'src/api/page/content-types/page/schema.json': page,
    'src/components/shared/teaser.json': teaser,
  })
  t.teardown(strapi.remove)
  const entity = (id: number, locale: string) => ({ type: uid, id, data: { locale, teaser: { id } } })
  const locales = ['en', 'de'].map((code, id) => ({
    type: 'plugin::i18n.locale',
    id: id + 1,
    data: { code },
  }))
  const locale = {
    uid: 'plugin::i18n.locale',
    collectionName: 'i18n_locale',
    attributes: { code: { type: 'string' } },
  }
  const link = (type: string, ref: number, field: string, to: number) => ({
    kind: 'relation.basic',
    left: { type, ref, field },
    right: { type: uid, ref: to },
  })
  const [translated, german, english] = [1, 2, 3] as const
  const entries = [
    tarEntry({ path: 'schemas/schemas_00001.jsonl' }, lines([page, teaser, locale])),
    tarEntry(
      { path: 'entities/entities_00001.jsonl' },
      lines([...locales, entity(translated, 'en'), entity(german, 'de'), entity(english, 'en')]),
    ),
    tarEntry(
      { path: 'links/links_00001.jsonl' },
      lines([
        link(uid, translated, 'localizations', german),
        link(uid, german, 'next', english),
        link(uid, english, 'next', translated),
        link(teaser.uid, german, 'to', english),
        link(teaser.uid, translated, 'to', english),
        link(teaser.uid, english, 'to', german),
      ]),
    ),
  ]
  const archive = join(strapi.path, 'export.tar')
  writeFileSync(archive, Buffer.concat([...entries, Buffer.alloc(1024)]))
  const content = join(strapi.path, 'documents.ndjson')
  const { code, out, complaint } = await runImport({
    dir: strapi.path,
    out: join(strapi.path, 'out'),
    archive,
    content: { file: content },
  })
  t.is(code, 0, complaint)
  const reported = out
    .split('\n')
    .filter(each => each.includes('without a version in the locale of its holder'))
  t.deepEqual(
    reported.map(each => each.trim().split(':').slice(0, -2).join(':')),
    ['api::page.page next', 'shared.teaser to'],
  )
  t.false(reported.some(each => each.includes('times')))
  t.regex(readFileSync(content, 'utf8'), /"locale":"de"[^}]*"values":\{"next":"s/)
})

test('roles whose types are no keys stay apart, and what an archive has besides the project is reported', async t => {
  const schema = (uid: string, collectionName: string, attributes: object) => {
    const name = uid.split('.')[1]
    return { uid, collectionName, info: { singularName: name, pluralName: `${name}s` }, attributes }
  }
  const kind = 'plugin::users-permissions'
  const toRole = { type: 'relation', relation: 'manyToOne', target: `${kind}.role` }
  const text = { type: 'string' }
  const role = schema(`${kind}.role`, 'up_roles', { name: text, type: text })
  const permission = schema(`${kind}.permission`, 'up_permissions', { action: text, role: toRole })
  const user = schema(`${kind}.user`, 'up_users', { username: text, email: text, role: toRole })
  const note = schema('api::note.note', 'notes', {
    title: text,
    parts: { type: 'dynamiczone', components: ['shared.part'] },
  })
  const part = { uid: 'shared.part', collectionName: 'components_parts', attributes: { title: text } }
  const strapi = strapiProject({
    'src/api/note/content-types/note/schema.json': note,
    'src/components/shared/part.json': part,
  })
  t.teardown(strapi.remove)
  const entity = ({ uid }: { readonly uid: string }, id: number, data: object) => ({ type: uid, id, data })
  const types = ['редактор', '编辑', null, 'public']
  const entities = [
    ...types.map((each, index) => entity(role, index + 1, { name: `Role ${index}`, type: each })),
    ...types.slice(0, 3).map((_, index) => {
      const username = `user${index}`
      return entity(user, index + 1, { documentId: username, username, email: `${username}@example.org` })
    }),
    entity(permission, 1, { action: 'api::note.note.delete' }),
    entity(note, 1, { documentId: 'first', parts: [{ __component: 'shared.gone', id: 1 }] }),
    entity({ uid: 'plugin::navigation.item' }, 1, {}),
  ]
  const link = (owner: { readonly uid: string }, ref: number, target: number) => ({
    kind: 'relation.basic',
    left: { type: owner.uid, ref, field: 'role' },
    right: { type: role.uid, ref: target },
  })
  const links = [link(user, 1, 1), link(user, 2, 2), link(user, 3, 3), link(permission, 1, 1)]
  const settings = { key: 'plugin_users-permissions_advanced', value: { default_role: '编辑' } }
  const archive = join(strapi.path, 'export.tar')
  const files = {
    schemas: [role, permission, user, note, part],
    entities,
    links,
    configuration: [
      { type: 'core-store', value: settings },
      {
        type: 'core-store',
        value: {
          key: 'plugin_users-permissions_grant',
          value: {
            email: { enabled: true },
            google: { enabled: true, secret: 'hidden' },
            github: { enabled: false },
          },
        },
      },
      {
        type: 'core-store',
        value: {
          key: 'plugin_users-permissions_email',
          value: {
            reset_password: { options: { message: 'Our own words' } },
            email_confirmation: { options: { message: '<p>Thank you for registering!</p>\n' } },
          },
        },
      },
      { type: 'webhook', value: { id: 1, name: 'Rebuild', url: 'https://example.org/secret' } },
    ],
  }
  const entries = Object.entries(files).map(([name, content]) =>
    tarEntry({ path: `${name}/${name}_00001.jsonl` }, lines(content)),
  )
  writeFileSync(archive, Buffer.concat([...entries, Buffer.alloc(1024)]))
  const content = join(strapi.path, 'documents.ndjson')
  const out = join(strapi.path, 'out')
  const options = { dir: strapi.path, out, archive, content: { file: content }, json: true }
  const done = await runImport(options)
  t.is(done.code, 0, done.complaint)
  const { losses } = JSON.parse(done.out)
  t.true(losses.some((loss: string) => /note parts: it holds a component that did not come over/.test(loss)))
  t.regex(done.out, /the webhook `Rebuild` did not come over/)
  t.regex(done.out, /users sign in at `google` in Strapi: name them in `auth\.providers`/)
  t.regex(done.out, /the texts of the account mails `reset_password` did not come over/)
  t.notRegex(done.out, /hidden|example\.org\/secret/)
  t.true(losses.includes('plugin::navigation.item: the project has no such content-type (1 row)'))
  const yaml = readFileSync(join(out, 'project.yaml'), 'utf8')
  t.regex(yaml, /^ {2}role:\n {4}name: Role 0\n {4}permissions:\n {6}note: \[delete\]$/m)
  t.regex(yaml, /^ {2}role-2:\n {4}name: Role 1\n {4}permissions: \{\}$/m)
  t.regex(yaml, /register:\n {4}role: role-2$/m)
  const [, ...documents] = readFileSync(content, 'utf8').trim().split('\n')
  const values = documents.map(each => JSON.parse(each).versions[0].values)
  t.deepEqual(
    values.slice(0, 3).map(each => [each.username, each.role]),
    [
      ['user0', 'role'],
      ['user1', 'role-2'],
      ['user2', 'role-role-2'],
    ],
  )
})

test('custom fields of an archive have the types of its columns, and values of other types are reported', async t => {
  const field = (name: string) => ({ type: 'customField', customField: `plugin::${name}` })
  const declared = (attributes: object) => ({
    ...{ uid: 'api::note.note', collectionName: 'notes', attributes },
    info: { singularName: 'note', pluralName: 'notes', displayName: 'Note' },
  })
  const own = {
    many: field('multi-select.multi-select'),
    rare: field('a.a'),
    at: field('a.b'),
    size: field('a.c'),
  }
  // Of a program that writes the name of the field in place of its type.
  const named = { tint: field('color-picker.color'), odd: field('a.d') }
  const strapi = strapiProject({
    'src/api/note/content-types/note/schema.json': declared({ ...own, ...named, count: { type: 'integer' } }),
  })
  t.teardown(strapi.remove)
  const stored = { many: 'string', rare: 'json', at: 'datetime', size: 'float', count: 'integer' }
  const typed = Object.entries(stored).map(([name, kind]) => [name, { type: kind }])
  const schema = declared({ ...Object.fromEntries(typed), ...named })
  const at = '2026-01-02T03:04:05.006Z'
  const data = {
    documentId: 'first',
    many: 'a,b',
    rare: { a: 1 },
    at,
    size: 1.5,
    tint: '#fff',
    odd: '5',
    count: 3,
  }
  const archive = join(strapi.path, 'export.tar')
  const note = (id: number, more: object) => ({ type: schema.uid, id, data: { ...data, ...more } })
  const entities = [note(1, {}), note(2, { documentId: 'second', count: 'many' })]
  const entries = [
    tarEntry({ path: 'schemas/schemas_00001.jsonl' }, lines([schema])),
    tarEntry({ path: 'entities/entities_00001.jsonl' }, lines(entities)),
  ]
  writeFileSync(archive, Buffer.concat([...entries, Buffer.alloc(1024)]))
  const out = join(strapi.path, 'out')
  const done = await runImport({ dir: strapi.path, out, archive, env: { DATABASE_URL: 'embedded' } })
  t.is(done.code, 1)
  t.regex(done.complaint, /strapi\.ndjson:3 note second: count must be a `number` type/)
  const yaml = readFileSync(join(out, 'project.yaml'), 'utf8')
  t.deepEqual(
    yaml.match(/^ {6}\w+: \w+$/gm)?.map(line => line.trim()),
    [
      ...['many: json', 'rare: json', 'at: datetime', 'size: float'],
      ...['tint: string', 'odd: json', 'count: integer'],
    ],
  )
  t.deepEqual(readdirSync(join(out, '.plinth')).toSorted(), ['database', 'strapi-uploads', 'strapi.ndjson'])
  const [, first = ''] = readFileSync(join(out, '.plinth', 'strapi.ndjson'), 'utf8').split('\n')
  const { documentId: _, ...values } = data
  t.deepEqual(JSON.parse(first).versions[0].values, values)
})

test('lines of an archive that were edited by hand never break the import', async t => {
  const declared = {
    uid: 'api::note.note',
    collectionName: 'notes',
    info: { singularName: 'note', pluralName: 'notes', displayName: 'Note' },
    pluginOptions: { i18n: { localized: true } },
    attributes: { title: { type: 'string' } },
  }
  const strapi = strapiProject({
    'package.json': {
      name: 'notes',
      dependencies: { '@strapi/strapi': '4.20.0', '@strapi/plugin-i18n': '4.20.0' },
    },
    'src/api/note/content-types/note/schema.json': declared,
  })
  t.teardown(strapi.remove)
  const note = (id: unknown) => ({ type: declared.uid, id, data: { title: String(id), locale: 'en' } })
  const end = (ref: unknown) => ({ type: declared.uid, ref, field: 'localizations' })
  const schema = { ...declared, attributes: { ...declared.attributes, gone: null } }
  const archive = join(strapi.path, 'export.tar')
  const entries = [
    tarEntry({ path: 'schemas/schemas_00001.jsonl' }, lines([schema])),
    tarEntry({ path: 'entities/entities_00001.jsonl' }, lines([note(1), note('x'), note(null)])),
    tarEntry({ path: 'links/links_00001.jsonl' }, lines([{ left: end('x'), right: end('y') }])),
  ]
  writeFileSync(archive, Buffer.concat([...entries, Buffer.alloc(1024)]))
  const content = join(strapi.path, 'documents.ndjson')
  const options = { dir: strapi.path, out: join(strapi.path, 'out'), archive, content: { file: content } }
  const done = await runImport({ ...options, json: true })
  t.is(done.code, 0, done.complaint)
  t.true(JSON.parse(done.out).losses.some((loss: string) => /note.*a row whose id is no number/.test(loss)))
  t.regex(readFileSync(content, 'utf8'), /"title":"1"/)
})

test('links and paths out of an archive are reported and never extracted', async t => {
  const folder = temporaryFolder()
  t.teardown(folder.remove)
  const own = gunzipSync(readFileSync(data('export.tar.gz')))
  const hostile = [
    tarEntry({ path: 'assets/uploads/../../../../evil.txt' }, 'evil'),
    tarEntry({ path: '../outside.txt' }, 'evil'),
    tarEntry({ path: 'assets/uploads/link.png', type: 'SymbolicLink', linkpath: '/etc/passwd' }),
    tarEntry({ path: 'assets/uploads/copy.png', type: 'Link', linkpath: '../../../../etc/passwd' }),
    tarEntry({ path: 'entities/entities_00002.jsonl', type: 'SymbolicLink', linkpath: '/etc/passwd' }),
    tarEntry({ path: 'assets/uploads/.hidden/x.png' }, 'evil'),
  ]
  const archive = join(folder.path, 'hostile.tar')
  writeFileSync(archive, Buffer.concat([...hostile, own]))
  const out = folder.path
  const { code, complaint, report } = await imports(t, { archive, json: true })
  t.is(code, 0, complaint)
  const losses = JSON.parse(report).losses.filter((loss: string) => loss.startsWith('archive entry'))
  t.is(losses.length, hostile.length, JSON.stringify(losses))
  t.true(losses.some((loss: string) => loss.includes('../outside.txt')))
  t.deepEqual(readdirSync(out), ['hostile.tar'])
})

test('an archive beyond a limit is refused with the entry, before that is read', async t => {
  const folder = temporaryFolder()
  t.teardown(folder.remove)
  const archive = join(folder.path, 'large.tar')
  const line = `${JSON.stringify({ uid: 'api::a.a' })}\n`
  const entries = [
    tarEntry({ path: 'schemas/schemas_00001.jsonl' }, line.repeat(10)),
    tarEntry({ path: 'entities/entities_00001.jsonl' }, line.repeat(20)),
    tarEntry({ path: 'assets/uploads/a.png' }, 'x'.repeat(700)),
    tarEntry({ path: 'assets/uploads/b.png' }, 'x'.repeat(700)),
  ]
  writeFileSync(archive, Buffer.concat([...entries, Buffer.alloc(1024)]))
  const read = (limits: Partial<ArchiveLimits>) => {
    const uploads = join(folder.path, 'uploads')
    const options = { archive, key: undefined, version: 5, uploads } as const
    return readArchive({ ...options, limits: { ...ARCHIVE_LIMITS, ...limits } })
  }
  for (const [limits, reason] of [
    [{ entries: 3 }, /too many entries \(at assets\/uploads\/b\.png\); an import reads at most 3$/],
    [{ lines: 300 }, /an entry has too many bytes \(at entities\/entities_00001\.jsonl\)/],
    [{ documents: 500 }, /its documents have too many bytes \(at entities/],
    [{ uploads: 1_399 }, /its uploads have too many bytes \(at assets\/uploads\/b\.png\)/],
  ] as const) {
    const result = await read(limits)
    t.regex(result.ok ? '' : result.reasons.join(), reason)
    t.deepEqual(readdirSync(folder.path), ['large.tar'])
  }
  t.true((await read({ entries: 4, lines: 400, documents: 600, uploads: 1_400 })).ok)
})

test('files of an upload folder are found through links; broken links and folders are reported as missing', async t => {
  const folder = temporaryFolder()
  t.teardown(folder.remove)
  cpSync(recorded('4-sqlite'), folder.path, { recursive: true })
  const uploads = join(folder.path, 'public', 'uploads')
  const shared = temporaryFolder()
  t.teardown(shared.remove)
  const [linked = '', broken = '', replaced = ''] = readdirSync(uploads).filter(
    name => !name.startsWith('thumbnail_'),
  )
  renameSync(join(uploads, linked), join(shared.path, linked))
  symlinkSync(join(shared.path, linked), join(uploads, linked))
  rmSync(join(uploads, broken))
  symlinkSync(join(shared.path, 'gone'), join(uploads, broken))
  rmSync(join(uploads, replaced))
  mkdirSync(join(uploads, replaced))
  const { database } = { database: sqliteFile(t, '4-sqlite').file }
  const {
    code,
    complaint,
    report,
    folder: out,
  } = await imports(t, { dir: folder.path, database, json: true })
  t.is(code, 0, complaint)
  const { documents, losses } = JSON.parse(report)
  t.is(documents.file, 1)
  t.true(
    losses.some((loss: string) => /its bytes are not in .* \(2 times\)/.test(loss)),
    JSON.stringify(losses),
  )
  const stored = join(out, '.plinth', 'uploads', linked)
  t.false(lstatSync(stored).isSymbolicLink())
  t.deepEqual(readFileSync(stored), readFileSync(join(shared.path, linked)))
})

test('an empty upload folder, or none, leaves files out and reports each', async t => {
  const folder = temporaryFolder()
  t.teardown(folder.remove)
  cpSync(recorded('4-sqlite'), folder.path, { recursive: true })
  const uploads = join(folder.path, 'public', 'uploads')
  rmSync(uploads, { recursive: true })
  mkdirSync(uploads)
  const database = sqliteFile(t, '4-sqlite').file
  const { code, complaint, report } = await imports(t, { dir: folder.path, database, json: true })
  t.is(code, 0, complaint)
  const { documents, losses } = JSON.parse(report)
  t.is(documents.file ?? 0, 0)
  t.true(
    losses.some((loss: string) => /its bytes are not in .* \(3 times\)/.test(loss)),
    JSON.stringify(losses),
  )
})

test('an archive of another version than the project is refused', async t => {
  const folder = temporaryFolder()
  t.teardown(folder.remove)
  const archive = join(folder.path, 'old.tar')
  const metadata = JSON.stringify({ createdAt: '2024-01-01', strapi: { version: '4.25.1' } })
  writeFileSync(archive, Buffer.concat([tarEntry({ path: 'metadata.json' }, metadata), Buffer.alloc(1024)]))
  const { code, complaint } = await imports(t, { archive })
  t.is(code, 1)
  t.regex(complaint, /was exported by Strapi 4\.25\.1, but the project is one of Strapi 5/)
})
