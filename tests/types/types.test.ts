import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import test from 'ava'
import ts from 'typescript'
import { runTypes } from '../../tools/cli/types/types.ts'
import { temporaryFolder } from '../harness/folder.ts'

const root = resolve(import.meta.dirname, '../..')
const GOLDEN = join(import.meta.dirname, 'conformance.d.ts')
const project = join(root, 'tests/conformance/project')

/** The output of `plinth types`, and its exit code. */
async function run(folder: string, more: { out?: string; check?: boolean } = {}) {
  let said = ''
  let complaint = ''
  const write = (text: string) => {
    said += text
  }
  const writeError = (text: string) => {
    complaint += text
  }
  const code = await runTypes({ folder, check: false, env: {}, write, writeError, ...more })
  return { code, said, complaint }
}

const config = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile)
const only = { ...config.config, include: ['core/index.ts'] }
const options = { ...ts.parseJsonConfigFileContent(only, ts.sys, root).options, types: [] }

/** Parses each file once for all programs. */
const host = ts.createCompilerHost(options)
const { getSourceFile } = host
const parsed = new Map<string, ts.SourceFile | undefined>()
host.getSourceFile = (path, ...rest) => {
  if (!parsed.has(path)) parsed.set(path, getSourceFile(path, ...rest))
  return parsed.get(path)
}

/** The diagnostics of TypeScript in its strictest mode for a file of a plugin author. */
function faultsOf(name: string): readonly string[] {
  const program = ts.createProgram([join(import.meta.dirname, 'fixtures', name)], options, host)
  // The server's own files are checked with it.
  const file = program.getSourceFile(join(import.meta.dirname, 'fixtures', name))
  if (!file) throw new Error(`no fixture ${name}`)
  const all = [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)]
  return all.map(({ start = 0, messageText }) => {
    const { line } = file.getLineAndCharacterOfPosition(start)
    return `${name}:${line + 1} ${ts.flattenDiagnosticMessageText(messageText, '\n')}`
  })
}

test('the types of the conformance project match project.yaml', async t => {
  const folder = temporaryFolder()
  t.teardown(folder.remove)
  const out = join(folder.path, 'types.d.ts')
  t.is((await run(project, { out })).code, 0)
  t.is(readFileSync(out, 'utf8'), readFileSync(GOLDEN, 'utf8'))
})

test('a typed plugin compiles with names of the project only', t => {
  t.deepEqual(faultsOf('documents.ts'), [])
})

test('policies, middlewares, methods, events and extensions of the schema are typed by the project', t => {
  t.deepEqual(faultsOf('plugins.ts'), [])
})

test('templates of mails and their data are typed', t => {
  t.deepEqual(faultsOf('mails.ts'), [])
})

test('Sequelize models have the columns of their tables', t => {
  t.deepEqual(faultsOf('models.ts'), [])
})

test('plugins compile without generated types', t => {
  t.deepEqual(faultsOf('untyped.ts'), [])
})

test('names of policies and middlewares come from their files; --check reports outdated types', async t => {
  const folder = temporaryFolder()
  t.teardown(folder.remove)
  folder.write('project.yaml', 'name: Small\ncontentTypes: { book: { attributes: { title: string } } }\n')
  folder.write('policies/billing/has-plan.ts', 'export default 1')
  folder.write('middlewares/log-timing.ts', 'export default 1')
  t.is((await run(folder.path, { check: true })).code, 1)
  t.is((await run(folder.path)).code, 0)
  t.is((await run(folder.path, { check: true })).code, 0)
  const text = readFileSync(join(folder.path, '.plinth/types.d.ts'), 'utf8')
  t.regex(text, /interface Policies \{\s+'billing\/has-plan': unknown\s+\}/)
  t.regex(text, /interface Middlewares \{\s+'log-timing': unknown\s+\}/)
  folder.write('project.yaml', 'name: Small\ncontentTypes: { book: { attributes: { name: string } } }\n')
  t.is((await run(folder.path, { check: true })).code, 1)
})

test('an invalid project reports its errors, and writes no types', async t => {
  const folder = temporaryFolder()
  t.teardown(folder.remove)
  folder.write('project.yaml', 'name: Small\ncontentTypes: { book: { attributes: { title: strng } } }\n')
  const { code, complaint } = await run(folder.path)
  t.is(code, 1)
  t.regex(complaint, /strng/)
})
