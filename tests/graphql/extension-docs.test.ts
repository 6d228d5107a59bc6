import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import test from 'ava'
import { temporaryFolder } from '../harness/folder.ts'
import { openTestApp } from '../harness/test-app.ts'

const PROJECT = `
name: Guide
contentTypes:
  restaurant:
    attributes:
      name: string
      price: integer
      rent: integer
      owner: { type: relation, relation: manyToOne, target: person }
      dishes: { type: relation, relation: oneToMany, target: dish, mappedBy: restaurant }
  dish: { attributes: { name: string, restaurant: { type: relation, relation: manyToOne, target: restaurant, inversedBy: dishes } } }
  person: { attributes: { name: string } }
roles: { public: { permissions: { restaurant: [find], dish: [find] } } }
`

const OFFICE_HOURS = `import { definePolicy } from 'plinth'\nexport default definePolicy(() => true)\n`
const HAS_ROLE = `import { definePolicy } from 'plinth'\nexport default definePolicy(() => false)\n`
const TIMING = `import { defineMiddleware } from 'plinth'\nexport default defineMiddleware({ resolver: () => next => next() })\n`

test('the extension and the project file in the guide to GraphQL work as described', async t => {
  const guide = readFileSync(join(resolve(import.meta.dirname, '../..'), 'docs/plugins.md'), 'utf8')
  const section = guide.slice(guide.indexOf('## GraphQL'))
  const blocks = (language: string) =>
    [...section.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, 'gm'))].map(
      ([, body]) => body ?? '',
    )
  const [extension = ''] = blocks('ts')
  const [shadow = '', config = ''] = blocks('yaml')
  const folder = temporaryFolder()
  t.teardown(folder.remove)
  folder.write('project.yaml', PROJECT + shadow + config)
  folder.write('extensions/guide.ts', extension)
  folder.write('policies/office-hours.ts', OFFICE_HOURS)
  folder.write('policies/has-role.ts', HAS_ROLE)
  folder.write('middlewares/request-timing.ts', TIMING)
  const { app, graphql } = await openTestApp(t, { project: folder.path })
  for (const [name, price] of [
    ['Grand', 90],
    ['Corner', 8],
  ] as const)
    await app.documents('restaurant').create({ data: { name, price } })
  const { data, errors } = await graphql(`{
    cheapest(most: 10) { data { attributes { name dishes { data { id } } owner { data { id } } } } }
    restaurants(sort: "name:desc") { data { attributes { label } } }
    __type(name: "Restaurant") { fields { name } }
  }`)
  t.falsy(errors)
  const { cheapest, restaurants, __type } = data as Record<string, unknown>
  t.deepEqual(cheapest, {
    data: [{ attributes: { name: 'Corner', dishes: { data: [] }, owner: { data: null } } }],
  })
  t.deepEqual(restaurants, {
    data: [{ attributes: { label: 'Corner (8)' } }, { attributes: { label: 'Grand (90)' } }],
  })
  t.false((__type as { fields: { name: string }[] }).fields.some(({ name }) => name === 'rent'))
  const refused = await graphql('mutation { createRestaurant(data: { name: "New" }) { data { id } } }')
  t.is(refused.errors?.[0]?.extensions.code, 'FORBIDDEN')
})
