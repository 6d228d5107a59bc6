import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { runRoles } from '../../tools/cli/roles/roles.ts'
import { runExplain } from '../../tools/cli/roles/roles-explain.ts'
import { run } from './run.ts'

const PAGE = join(import.meta.dirname, '..', '..', 'docs', 'access.md')
const BLOCK = /^```console\n\$ plinth (roles (?:explain )?[^\n]*)\n([\s\S]*?)^```$/gm

/** The output of a command of the page for the example project. */
async function answerTo(command: string): Promise<string> {
  const [, second = '', ...words] = command.split(' ')
  if (second === 'explain') {
    const [who = '', action = '', type = '', field] = words
    return (await run(options => runExplain(options, { who, action, type, field, isUser: false }))).out
  }
  const roles = [second, ...words].filter(word => word !== '--role')
  return (await run(options => runRoles(options, { roles, types: [] }))).out
}

test('the guide shows the actual output of the commands for the example project', async t => {
  const page = readFileSync(PAGE, 'utf8')
  const blocks = [...page.matchAll(BLOCK)].filter(([, command]) => !command?.startsWith('roles diff'))
  t.is(blocks.length, 3)
  const answers = await Promise.all(blocks.map(([, command = '']) => answerTo(command)))
  const actual = blocks.reduce(
    (text, [block, command], index) =>
      text.replace(block, () => blockOf(command ?? '', answers[index] ?? '')),
    page,
  )
  if (process.env.UPDATE_GOLDEN) writeFileSync(PAGE, actual)
  t.is(readFileSync(PAGE, 'utf8'), actual, 'UPDATE_GOLDEN=1 rewrites the guide')
})

const blockOf = (command: string, output: string): string =>
  `\`\`\`console\n$ plinth ${command}\n${output}\`\`\``
