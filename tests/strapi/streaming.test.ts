import test from 'ava'
import { compileModel } from '../../core/model/compile-model.ts'
import { readProject } from '../../core/project/load-project.ts'
import { correspond } from '../../tools/strapi/field-mapping.ts'
import { nameAll } from '../../tools/strapi/names.ts'
import { readStrapi } from '../../tools/strapi/read-strapi.ts'
import type { RowLocation } from '../../tools/strapi/row-index.ts'
import { namesOf } from '../../tools/strapi/strapi-names.ts'
import { streamDocuments } from '../../tools/strapi/stream-documents.ts'
import { runImport, strapiProject, type } from './import.ts'

/** More than a function takes arguments. */
const MANY = 400_000

test('a content-type may have any number of rows', async t => {
  const folder = strapiProject(type('note', { title: { type: 'string' } }))
  t.teardown(folder.remove)
  await runImport({ dir: folder.path, out: folder.path })
  const strapi = await readStrapi(folder.path)
  const { project } = await readProject(folder.path, {})
  const model = project && compileModel(project)
  if (!strapi.ok || !model?.ok) return t.fail()
  const place: RowLocation = { documentId: 'gone', locale: null, status: 'published', linked: undefined }
  const rows = new Map(Array.from({ length: MANY }, (_, index) => [index + 1, place]))
  const documents = streamDocuments({
    source: NOTHING_THERE,
    names: namesOf(5),
    correspondence: correspond(strapi.value, nameAll(strapi.value), model.value),
    index: { types: new Map([['api::note.note', { rows, documents: new Map() }]]) },
    lose: () => {},
  })
  t.deepEqual(await documents.next(), { done: true, value: undefined })
})

/** No document is read. */
const NOTHING_THERE = {
  tables: new Map(),
  read: () => Promise.reject(new Error('nothing is to be read')),
}
