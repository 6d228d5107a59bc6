import test from 'ava'
import { checkApp } from '../../core/app/check-app.ts'
import { runCheck } from '../../tools/cli/check.ts'
import { temporaryFolder } from '../harness/folder.ts'

// References that a project declares from one thing to another, however long or closed the way is.

const HEAD = 'name: Cycles\ncontentTypes:\n  note: { attributes: { title: string } }\n'

async function check(file: string): Promise<{ readonly code: number; readonly text: string }> {
  const folder = temporaryFolder()
  folder.write('project.yaml', file)
  const parts: string[] = []
  const write = (part: string) => void parts.push(part)
  const code = await runCheck({ folder: folder.path, json: false, env: {}, write, checkers: [checkApp({})] })
  folder.remove()
  return { code, text: parts.join('') }
}

const count = (length: number) => Array.from({ length }, (_, index) => index)

test('a cycle of roles is one error, and other errors are reported too', async t => {
  const { code, text } = await check(`${HEAD}roles:
  a: { extends: b, permissions: { note: [find] } }
  b: { extends: c, permissions: { nothing: [find] } }
  c: { extends: [a] }
`)
  t.is(code, 1)
  t.regex(text, /project\.yaml:5:17 roles extend each other in a cycle: `a` → `b` → `c` → `a`/)
  t.regex(text, /nothing/)
  t.regex(text, /2 faults/)
})

test('roles may extend any number of others, also the same one on several paths', async t => {
  const chain = count(12_000).map(index => `  r${index}: { extends: r${index + 1} }\n`)
  const ways = count(40).map(
    index =>
      `  x${index}: { extends: [x${index + 1}, y${index + 1}] }\n  y${index}: { extends: x${index + 1} }\n`,
  )
  const ends =
    '  r12000: { permissions: { note: [find] } }\n  x40: { permissions: { note: [find] } }\n  y40: {}\n'
  const { code, text } = await check(`${HEAD}roles:\n${[...chain, ...ways].join('')}${ends}`)
  t.is(code, 0, text.slice(0, 500))
})

test('components nest to any depth, but not in themselves', async t => {
  const nested = count(1_000).map(
    index => `  s.c${index}: { attributes: { n: { type: component, component: s.c${index + 1} } } }\n`,
  )
  const deep = await check(
    `name: Deep\ncomponents:\n${nested.join('')}  s.c1000: { attributes: { t: string } }\ncontentTypes:\n  note: { attributes: { c: { type: component, component: s.c0 } } }\n`,
  )
  t.is(deep.code, 0, deep.text.slice(0, 500))
  const closed = await check(`name: Closed
components:
  s.a: { attributes: { n: { type: component, component: s.b } } }
  s.b: { attributes: { n: { type: dynamiczone, components: [s.a] } } }
contentTypes:
  note: { attributes: { c: { type: component, component: s.a } } }
`)
  t.is(closed.code, 1)
  t.regex(closed.text, /project\.yaml:4:27 components contain each other in a cycle: `s.a` → `s.b` → `s.a`/)
})
