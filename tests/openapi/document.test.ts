import { resolve } from 'node:path'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import test, { type ExecutionContext } from 'ava'
import { servesOpenapi } from '../../core/openapi/open-openapi.ts'
import { describeRole } from '../../tools/cli/openapi.ts'
import { temporaryFolder } from '../harness/folder.ts'

const example = resolve(import.meta.dirname, '../..')
const conformance = resolve(import.meta.dirname, '../conformance/project')

async function describe(t: ExecutionContext, folder: string, role: string, format: 'v4' | 'v5' = 'v5') {
  const described = await describeRole({ folder, env: { DATABASE_URL: 'embedded' }, role, format })
  if (!described.ok) return t.fail(described.reasons.join('\n'))
  return described.value
}

/** The problems that the strict rules find. */
async function lint(document: unknown): Promise<readonly string[]> {
  const config = await createConfig({ extends: ['recommended-strict'] })
  const problems = await lintFromString({ source: JSON.stringify(document), config, absoluteRef: 'api.json' })
  return problems.map(({ ruleId, message, location }) => `${ruleId}: ${message} ${location[0]?.pointer}`)
}

for (const role of ['public', 'authenticated', 'editor', 'website'])
  for (const format of ['v5', 'v4'] as const)
    test.serial(`strict rules find nothing in what ${role} may do in the example (${format})`, async t => {
      t.deepEqual(await lint(await describe(t, example, role, format)), [])
    })

for (const role of ['public', 'editor', 'full', 'custom'])
  test.serial(`strict rules find nothing in what ${role} may do in the conformance project`, async t => {
    t.deepEqual(await lint(await describe(t, conformance, role)), [])
  })

test.serial(
  'strict rules find nothing in a project of 500 types, each with a relation to the next',
  async t => {
    const folder = temporaryFolder()
    t.teardown(() => folder.remove())
    folder.write('project.yaml', JSON.stringify(largeProject(500)))
    const problems = await lint(await describe(t, folder.path, 'all'))
    t.deepEqual(problems.slice(0, 5), [])
  },
)

function largeProject(count: number): object {
  const types = Array.from({ length: count }, (_, at) => [
    `kind${at}`,
    {
      draftAndPublish: at % 2 === 0,
      attributes: {
        title: { type: 'string', required: true },
        body: { type: 'richtext' },
        size: { type: 'integer' },
        day: { type: 'date' },
        next: { type: 'relation', relation: 'manyToOne', target: `kind${(at + 1) % count}` },
        cover: { type: 'media' },
      },
    },
  ])
  return {
    name: 'Large',
    database: { url: 'embedded' },
    contentTypes: Object.fromEntries(types),
    roles: { all: { permissions: { '*': '*' } } },
  }
}

test('production serves the description only if the project says so', t => {
  t.deepEqual([servesOpenapi(undefined, true), servesOpenapi(undefined, false)], [false, true])
  t.deepEqual([servesOpenapi(true, true), servesOpenapi(false, false)], [true, false])
})
