import test from 'ava'
import { migrate } from '../../core/migrate/migrate.ts'
import { openTestDatabase } from '../harness/test-database.ts'
import { storageOf } from '../model/compiled.ts'
import { stage } from './shift-case.ts'

const yaml = (more: string, { locales = '[en, de, fr]', types = 'book: {}, tome: {}' } = {}) => `
i18n: { defaultLocale: en, locales: ${locales} }
components:
  part.one: { attributes: { x: string } }
contentTypes:
  tag: { attributes: { name: string } }
  page: { localized: true, attributes: { ${more} } }
  ${types.replaceAll(', ', '\n  ')}
`

const part = (former = '') => `{ type: component, component: part.one${former} }`
const links = (former = '') => `{ type: relation, relation: manyToMany, target: tag${former} }`

/** Both names are in use until now, and only the first is from now on: for what the second one had. */
const CASES = [
  [
    yaml('a: string, b: string'),
    yaml('a: { type: string, renamedFrom: b }'),
    '`a` of content-type `page`',
    'b',
  ],
  [
    yaml(`a: ${part()}, b: ${part()}`),
    yaml(`a: ${part(', renamedFrom: b')}`),
    '`a` of content-type `page`',
    'b',
  ],
  [
    yaml(`a: ${links()}, b: ${links()}`),
    yaml(`a: ${links(', renamedFrom: b')}`),
    '`a` of content-type `page`',
    'b',
  ],
  [yaml(''), yaml('', { types: 'book: { renamedFrom: tome }' }), 'content-type `book`', 'tome'],
  [yaml(''), yaml('', { locales: '[en, { code: de, renamedFrom: fr }]' }), 'locale `de`', 'fr'],
] as const

for (const [index, [before, after, what, former]] of CASES.entries())
  test.serial(`a rename to a name that is in use until now is refused: ${what} (${index + 1})`, async t => {
    const one = await stage(await openTestDatabase(t), before)
    const message = `${what} is renamed from \`${former}\`, but the database has both: remove the former one in a first step (\`plinth migrate --allow-destructive\`) and rename in a second one, or leave \`renamedFrom\` out`
    t.deepEqual(await one.losses(after), [`refused: ${message}`])
  })

test('a name is free for a rename after the step that removed what had it', async t => {
  const database = await openTestDatabase(t)
  const one = await stage(database, yaml('a: string, b: string'))
  const { documentId: id } = await one.create('page', { a: 'old', b: 'kept' })
  await one.update('page', id, { a: 'alt', b: 'behalten' }, { locale: 'de' })
  await one.update('page', id, { b: 'gardé' }, { locale: 'fr' })
  await one.become(yaml('b: string', { locales: '[en, fr]' }))
  const renamed = yaml('a: { type: string, renamedFrom: b }', {
    locales: '[en, { code: de, renamedFrom: fr }]',
  })
  const { tables } = await storageOf(renamed)
  t.true((await migrate(database, tables)).ok)
  const then = await one.become(renamed)
  t.is((await then.find('page', id))?.a, 'kept')
  t.is((await then.find('page', id, { locale: 'de' }))?.a, 'gardé')
})
