import { join } from 'node:path'
import test from 'ava'
import { printDiagnostic } from '../../core/faults/diagnostic.ts'
import type { Environment } from '../../core/project/environment.ts'
import { readYaml } from '../../core/project/yaml/read-yaml.ts'
import { temporaryFolder } from '../harness/folder.ts'

async function read(text: string, environment: Environment = {}) {
  const folder = temporaryFolder()
  folder.write('content/pages.yaml', text)
  const result = await readYaml(join(folder.path, 'content/pages.yaml'), { root: folder.path, environment })
  folder.remove()
  return result
}

test('a YAML file is read as plain values with positions', async t => {
  const result = await read('- title: First\n  tags: [a, 2, null, true]\n  on: 2027-01-01\n')
  if (!result.ok) return t.fail(result.reasons[0]?.message)
  t.deepEqual(result.value.value, [{ title: 'First', tags: ['a', 2, null, true], on: '2027-01-01' }])
  t.like(result.value.location([0, 'tags', 1]), { file: 'content/pages.yaml', line: 2, column: 13 })
  t.like(result.value.keyLocation([0, 'on']), { line: 3, column: 3 })
})

test('passwords are taken from the environment, and never printed', async t => {
  const result = await read(
    '- { username: ann, password: "${PASSWORD}", email: "x" }\n- { password: open-sesame }\n',
    { PASSWORD: 'hunter2' },
  )
  if (!result.ok) return t.fail(result.reasons[0]?.message)
  t.deepEqual(result.value.value, [
    { username: 'ann', password: 'hunter2', email: 'x' },
    { password: 'open-sesame' },
  ])
  t.true(result.value.fromEnvironment([0, 'password']))
  t.false(result.value.fromEnvironment([1, 'password']))
  t.is(result.value.location([1, 'password']).source, '- { password: *********** }')
})

test('an empty file is null', async t => {
  const result = await read('# nothing yet\n')
  t.is(result.ok && result.value.value, null)
})

test('the rules of the project file apply: every error is reported', async t => {
  const result = await read('- { a: 1, a: 2 }\n- { b: "${NOWHERE}", __proto__: {} }\n- *c\n')
  t.deepEqual(result.ok || result.reasons.map(reason => printDiagnostic(reason).split('\n')[0]), [
    'content/pages.yaml:1:11 duplicate key `a` ([0].a)',
    'content/pages.yaml:2:8 the environment variable `NOWHERE` is not set: set it, or give a fallback with `${NOWHERE:-…}` ([1].b)',
    'content/pages.yaml:2:22 the key `__proto__` is never allowed ([1].__proto__)',
    'content/pages.yaml:3:3 unknown alias `*c`: its anchor must stand above it ([2])',
  ])
})

test('read values are immutable', async t => {
  const result = await read('- { a: { b: 1 } }\n')
  const frozen: unknown = result.ok && result.value.value
  t.true(Object.isFrozen(frozen) && Array.isArray(frozen) && Object.isFrozen(frozen[0].a))
})

test('a merge that is not resolved is reported as such, once for each conflict', async t => {
  const conflict = (first: string, second: string) =>
    `<<<<<<< HEAD\n${first}=======\n${second}>>>>>>> branch\n`
  const lines = async (text: string) => {
    const result = await read(text)
    return result.ok || result.reasons.map(reason => printDiagnostic(reason).split('\n')[0])
  }
  const at = (place: string) =>
    `content/pages.yaml:${place} a merge conflict is not resolved: keep one side or join both, and delete the lines \`<<<<<<<\`, \`=======\` and \`>>>>>>>\``
  const both = `- a: 1\n${conflict('  b: 1\n', '  b: 2\n')}- c: 1\n${conflict('', '- d: 2\n')}`
  t.deepEqual(await lines(both), [at('2:1'), at('8:1')])
  t.deepEqual(await lines(both.replaceAll('\n', '\r\n')), [at('2:1'), at('8:1')])
  t.deepEqual(await lines('- a: 1\n>>>>>>> branch\n'), [at('2:1')])
  t.true(await lines('- |\n  <<<<<<< HEAD\n  =======\n'), 'a text about conflicts')
})
