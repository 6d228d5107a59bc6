import test, { type ExecutionContext } from 'ava'
import { compileApp } from '../../core/app/compile-app.ts'
import { printDiagnostic } from '../../core/faults/diagnostic.ts'
import { temporaryFolder } from '../harness/folder.ts'
import { openTestApp } from '../harness/test-app.ts'

const PROJECT = 'name: Notes\ncontentTypes:\n  note: { attributes: { text: string } }\n'
const FAULT =
  'standard decorators are not supported: call the function instead, or set `experimentalDecorators` in tsconfig.json for those of TypeScript'

function project(t: ExecutionContext, files: Readonly<Record<string, string>>) {
  const folder = temporaryFolder()
  t.teardown(folder.remove)
  folder.write('project.yaml', PROJECT)
  for (const [file, text] of Object.entries(files)) folder.write(file, text)
  return folder
}

const extension = (text: string) => `import { defineExtension } from 'plinth'
/** Knows @author and mail@example.org. */
${text}
export default defineExtension({ register({ rest }) { rest.route('GET', '/hi', () => new Service().hi(), { auth: false }) } })
`

test('decorators are refused at their line, in plugins and in what they import', async t => {
  const { path } = project(t, {
    'extensions/a-method.ts': extension('class Service {\n  @logged hi() {}\n}'),
    'extensions/b-class.js': extension('@logged class Service {}'),
    'extensions/c-field.ts': extension('class Service {\n  @logged() x = 1\n}'),
    'extensions/d-accessor.ts': extension('class Service {\n  @logged accessor x = 1\n}'),
    'extensions/e-import.ts': extension("import { Service } from '../lib/service.ts'"),
    'extensions/f-none.ts': extension('class Service { hi() { return "@logged" } }').replace('/hi', '/ho'),
    'lib/service.ts': 'export class Service {\n  // @one\n  @logged\n  hi() {}\n}\n',
  })
  const compiled = await compileApp(path, {})
  const faults = compiled.ok ? [] : compiled.reasons.map(fault => printDiagnostic(fault).split('\n')[0])
  t.deepEqual(faults, [
    `extensions/a-method.ts:4:3 ${FAULT}`,
    `extensions/b-class.js:3:1 ${FAULT}`,
    `extensions/c-field.ts:4:3 ${FAULT}`,
    `extensions/d-accessor.ts:4:3 ${FAULT}`,
    `lib/service.ts:3:3 ${FAULT}`,
  ])
})

test('decorators of experimentalDecorators run if tsconfig.json has the setting', async t => {
  const { path } = project(t, {
    'tsconfig.json': '{ "compilerOptions": { "experimentalDecorators": true } }',
    'extensions/hi.ts': extension(`const loud = (_: object, __: string, found: any) => {
  const inner = found.value
  found.value = () => ({ hi: inner().toUpperCase() })
}
class Service { @loud hi(): any { return 'hi' } }`),
  })
  const { request } = await openTestApp(t, { project: path })
  t.deepEqual((await request('GET', '/api/hi')).body, { hi: 'HI' })
})
