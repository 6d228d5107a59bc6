import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { loadProject } from '../../core/project/load-project.ts'
import { temporaryFolder } from '../harness/folder.ts'
import { faultsOf, loadGood } from './load.ts'

test('a folder without a project is reported with its path', async t => {
  const folder = temporaryFolder()
  t.teardown(folder.remove)
  const loaded = await loadProject(folder.path, {})
  const file = join(folder.path, 'project.yaml')
  t.is(loaded.ok || loaded.reasons[0]?.message, `the file cannot be read: there is no such file: ${file}`)
})

test('a file in place of the folder of a project is named', async t => {
  const folder = temporaryFolder()
  t.teardown(folder.remove)
  folder.write('project.yaml', 'name: A\n')
  const file = join(folder.path, 'project.yaml')
  const loaded = await loadProject(file, {})
  t.is(loaded.ok || loaded.reasons[0]?.message, `the file cannot be read: ${file} is a file, not a folder`)
})

test('a project.yaml that is a folder is reported as such', async t => {
  const folder = temporaryFolder()
  mkdirSync(join(folder.path, 'project.yaml'))
  const loaded = await loadProject(folder.path, {})
  folder.remove()
  t.is(loaded.ok || loaded.reasons[0]?.message, 'the file cannot be read: it is a folder')
})

test('files are UTF-8, with or without a byte order mark', async t => {
  t.is((await loadGood({ 'project.yaml': Buffer.from('\ufeffname: Gärten\n') })).settings.name, 'Gärten')
  t.deepEqual(await faultsOf({ 'project.yaml': Buffer.from('# Listing\nname: Gärten\n', 'latin1') }), [
    'project.yaml:2:8 the file is not UTF-8: save it as UTF-8',
  ])
  for (const text of ['\ufeffname: A\n', 'name: A\n'])
    t.deepEqual(await faultsOf({ 'project.yaml': Buffer.from(text, 'utf16le') }), [
      'project.yaml:1:1 the file is UTF-16: save it as UTF-8',
    ])
})

test('a file of more than 5 MiB is refused without being read', async t => {
  const text = `name: A\n# ${'x'.repeat(5 * 1024 * 1024)}\n`
  t.deepEqual(await faultsOf(text), ['project.yaml:1:1 the file is larger than 5 MiB'])
  t.deepEqual(await faultsOf({ 'project.yaml': 'name: A\ninclude: [big.yaml]\n', 'big.yaml': text }), [
    'big.yaml:1:1 the file is larger than 5 MiB',
  ])
})

test('nesting that would overflow the stack is refused', async t => {
  const faults = await faultsOf(`name: A\nmiddlewares: ${'['.repeat(50_000)}`)
  t.true(faults.length > 0)
})

test('Windows line ends do not change positions', async t => {
  t.deepEqual(await faultsOf('name: A\r\nserver:\r\n  prot: 1\r\n'), [
    'project.yaml:3:3 unknown key `prot`: did you mean `port`? (server.prot)',
  ])
})

test('included files are merged once, in the order of their paths, relative to the including folder', async t => {
  const { settings } = await loadGood({
    'project.yaml': 'name: A\ninclude: ["types/**/*.yaml", more.yaml]\ncontentTypes: { zebra: {} }\n',
    'more.yaml': 'server: { port: 1 }\ncontentTypes:\n',
    'types/b.yaml': 'contentTypes: { b: {} }\n',
    'types/a/index.yaml': 'include: [../c.yaml, "?.yaml"]\ncontentTypes: { index: {} }\n',
    'types/a/x.yaml': 'contentTypes: { x: {} }\nserver: { host: h }\n',
    'types/c.yaml': 'contentTypes: { c: {} }\n',
    'types/.hidden.yaml': 'contentTypes: 5\n',
  })
  t.deepEqual(Object.keys(settings.contentTypes), ['zebra', 'index', 'c', 'x', 'b'])
  t.like(settings.server, { port: 1, host: 'h' })
})

test('a folder of a pattern that cannot be read is reported', async t => {
  const folder = temporaryFolder()
  t.teardown(folder.remove)
  folder.write('project.yaml', 'name: A\ninclude: ["types/*/*.yaml"]\n')
  folder.write('types/a/a.yaml', 'contentTypes: { a: {} }\n')
  symlinkSync('circle', join(folder.path, 'types', 'circle'))
  const loaded = await loadProject(folder.path, {})
  t.regex(
    loaded.ok ? '' : String(loaded.reasons[0]?.message),
    /^a folder of `types\/\*\/\*\.yaml` cannot be read: ELOOP/,
  )
})

test('a glob pattern does not include the file that contains it', async t => {
  const { settings } = await loadGood({
    'project.yaml': 'name: A\ninclude: ["*.yaml"]\n',
    'roles.yaml': 'roles: { editor: {} }\n',
  })
  t.deepEqual(Object.keys(settings.roles), ['public', 'authenticated', 'editor'])
})
