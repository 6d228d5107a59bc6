import { cpSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { printDiagnostic } from '../../core/faults/diagnostic.ts'
import { loadProject } from '../../core/project/load-project.ts'
import { temporaryFolder } from '../harness/folder.ts'

const BAD = join(import.meta.dirname, 'bad')

/** The environment of the bad files; none of its values may appear in a diagnostic. */
const ENVIRONMENT = { HOST: '127.0.0.1', TEXT: 'hunter2' }

const cases = readdirSync(BAD).filter(name => !name.endsWith('.txt'))

test('there are at least sixty invalid projects', t => {
  t.true(cases.length >= 60)
})

for (const name of cases) {
  test(`the file is refused with every reason and no secret: ${name}`, async t => {
    const reported = await reportedOf(join(BAD, name))
    t.notRegex(reported.replaceAll(/^ {2}\d+ \|.*\$\{.*$/gm, ''), /hunter2/)
    const file = join(BAD, `${name.replace(/\.yaml$/, '')}.txt`)
    if (process.env.UPDATE_GOLDEN === '1') writeFileSync(file, reported)
    t.not(reported, '')
    t.is(reported, existsSync(file) ? readFileSync(file, 'utf8') : '')
  })
}

/** The printed diagnostics; a case is a file, or a folder if it needs several. */
async function reportedOf(path: string): Promise<string> {
  const folder = temporaryFolder(statSync(path).isDirectory() ? path : undefined)
  if (!statSync(path).isDirectory()) cpSync(path, join(folder.path, 'project.yaml'))
  const loaded = await loadProject(folder.path, ENVIRONMENT)
  folder.remove()
  if (loaded.ok) return ''
  return `${loaded.reasons.map(printDiagnostic).join('\n\n')}\n`
}
