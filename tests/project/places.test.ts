import test from 'ava'
import type { Path } from '../../core/faults/diagnostic.ts'
import type { Project } from '../../core/project/project.ts'
import { loadGood } from './load.ts'

const at = (project: Project, ...path: Path) => spot(project.location(path))
const atKey = (project: Project, ...path: Path) => spot(project.keyLocation(path))
const spot = ({ file, line, column }: { file: string; line: number; column: number }) =>
  `${file}:${line}:${column}`

test('every key and value has a position, also in included files', async t => {
  const project = await loadGood({
    'project.yaml': 'name: A\ninclude: [types/*.yaml]\n',
    'types/a.yaml':
      'contentTypes:\n  article:\n    attributes:\n      author: { type: relation, relation: oneToOne, target: author }\n      text: richtext\n',
    'types/b.yaml': '# ä\ncontentTypes: { author: {} }\n',
  })
  const author = ['contentTypes', 'article', 'attributes', 'author']
  t.is(at(project, ...author, 'target'), 'types/a.yaml:4:61')
  t.is(atKey(project, ...author, 'target'), 'types/a.yaml:4:53')
  t.is(atKey(project, ...author), 'types/a.yaml:4:7')
  t.is(atKey(project, 'contentTypes', 'author'), 'types/b.yaml:2:17')
  t.is(
    project.location([...author, 'target']).source,
    '      author: { type: relation, relation: oneToOne, target: author }',
  )
})

test('a value that is in no file has the position of its parent', async t => {
  const project = await loadGood(
    'name: A\ncontentTypes:\n  article:\n    attributes:\n      text: richtext\n',
  )
  const text = ['contentTypes', 'article', 'attributes', 'text']
  t.is(at(project, ...text, 'type'), 'project.yaml:5:13')
  t.is(atKey(project, ...text, 'required'), 'project.yaml:5:7')
  t.is(atKey(project, 'contentTypes', 'article', 'kind'), 'project.yaml:3:3')
  t.is(at(project, 'server', 'port'), 'project.yaml:1:1')
})

test('an item of a flow sequence has the position of its text', async t => {
  const project = await loadGood(
    'name: A\nroles:\n  a:\n    permissions: { article: [find, findOne] }\n  b: { extends: a }\nmiddlewares: [x, { name: log }]\n',
  )
  t.is(at(project, 'roles', 'a', 'permissions', 'article', 'findOne'), 'project.yaml:4:36')
  t.is(at(project, 'roles', 'b', 'extends', 0), 'project.yaml:5:17')
  t.is(at(project, 'middlewares', 1, 'name'), 'project.yaml:6:26')
})

test('aliases and merge keys have the position where their value is written', async t => {
  const project = await loadGood(`name: A
contentTypes:
  page:
    attributes: &common
      title: &title { type: string }
  article:
    attributes:
      <<: *common
      other: *title
`)
  const attributes = ['contentTypes', 'article', 'attributes']
  t.deepEqual(
    project.settings.contentTypes.article?.attributes.title,
    project.settings.contentTypes.page?.attributes.title,
  )
  t.is(atKey(project, ...attributes, 'title'), 'project.yaml:5:7')
  t.is(at(project, ...attributes, 'other', 'type'), 'project.yaml:5:29')
})
