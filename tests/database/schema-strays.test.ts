import { readFileSync } from 'node:fs'
import test from 'ava'
import { planMigration } from '../../core/migrate/plan-migration.ts'
import { RISKS } from '../../core/migrate/schema/finding.ts'
import { openTestDatabase } from '../harness/test-database.ts'
import { storageOf } from '../model/compiled.ts'
import { schemaCase } from './schema-case.ts'
import { stage } from './shift-case.ts'

const PAGE = new URL('../../docs/migrations.md', import.meta.url)

const BEFORE = `
i18n: { defaultLocale: en, locales: [en, fr, de] }
components:
  shared.seo: { attributes: { meta: string } }
  shared.quote: { attributes: { text: string } }
  shared.card: { attributes: { text: string } }
contentTypes:
  article:
    localized: true
    attributes:
      title: string
      seo: { type: component, component: shared.seo }
      blocks: { type: dynamiczone, components: [shared.seo, shared.quote] }
      tags: { type: relation, relation: manyToMany, target: tag }
  tag: { attributes: { name: string } }
  spare: { attributes: { name: string } }
`

const without = (...lines: readonly string[]) =>
  lines.reduce((yaml, line) => yaml.replace(new RegExp(`^ *${line}: .*\n`, 'm'), ''), BEFORE)
const instead = (...pairs: readonly (readonly [string, string])[]) =>
  pairs.reduce((yaml, [text, other]) => yaml.replaceAll(text, other), BEFORE)

const NO_SEO = without('seo')
const NO_QUOTE = instead(['[shared.seo, shared.quote]', '[shared.seo]'])
const NO_FRENCH = instead(['[en, fr, de]', '[en, de]'])

/** The rows of the page, and the project after each. */
const CHANGES: Readonly<Record<string, string>> = {
  'a type is added': `${BEFORE}  other: { attributes: { name: string } }\n`,
  'a type is renamed (`renamedFrom`)': instead(
    ['  tag: {', '  label: { renamedFrom: tag,'],
    ['target: tag', 'target: label'],
  ),
  'a type is gone, with documents': without('tags', 'tag'),
  'a type is gone, without documents': without('spare'),
  'an attribute is renamed (`renamedFrom`)': instead([
    'title: string',
    'name: { type: string, renamedFrom: title }',
  ]),
  'a component is renamed (`renamedFrom`)': instead(
    ['shared.seo: {', 'shared.meta: { renamedFrom: shared.seo,'],
    ['component: shared.seo', 'component: shared.meta'],
    ['[shared.seo,', '[shared.meta,'],
  ),
  'an attribute that holds a component is renamed (`renamedFrom`)': instead([
    'seo: { type: component,',
    'head: { type: component, renamedFrom: seo,',
  ]),
  'an attribute that holds a component is gone': NO_SEO,
  'a component leaves a dynamic zone': NO_QUOTE,
  'a component joins a dynamic zone': instead([
    '[shared.seo, shared.quote]',
    '[shared.seo, shared.quote, shared.card]',
  ]),
  'a component is gone, with all that held it': NO_QUOTE.replace(/^ *shared.quote: .*\n/m, ''),
  'a locale is added': instead(['[en, fr, de]', '[en, fr, de, it]']),
  'a locale is renamed (`renamedFrom`)': instead([
    '[en, fr, de]',
    '[en, { code: fr-CA, renamedFrom: fr }, de]',
  ]),
  'a locale is gone, with versions in it': NO_FRENCH,
  'a locale is gone, without versions in it': instead(['[en, fr, de]', '[en, fr]']),
}

const listed = (): readonly (readonly string[])[] => {
  const [, after = ''] = readFileSync(PAGE, 'utf8').split('## Types, components, locales\n')
  const [section = ''] = after.split('\n## ')
  return [...section.matchAll(/^\| (.+?) \| (\w+) \| .+ \|$/gm)]
    .map(([, change = '', weight = '']) => [change, weight])
    .filter(([change]) => change !== 'Change')
}

test('dropping objects that left the project removes only what the page lists, and only with confirmation', async t => {
  const database = await openTestDatabase(t)
  const { create, update, become } = await stage(database, BEFORE)
  const tag = await create('tag', { name: 'a' })
  const parts = { seo: { meta: 'head' }, tags: [tag.documentId] }
  const quote = { __component: 'shared.quote', text: 'q' }
  const blocks = [quote, { __component: 'shared.seo', meta: 'part' }, quote]
  const article = await create('article', { title: 'a', ...parts, blocks }, { locale: 'en' })
  await update('article', article.documentId, { title: 'b', ...parts, blocks: [quote] }, { locale: 'fr' })

  const classes = []
  for (const [change, yaml] of Object.entries(CHANGES)) {
    t.not(yaml, BEFORE, change)
    const plan = await planMigration(database, (await storageOf(yaml)).tables)
    const weight = RISKS.findLast(one => plan.steps.some(step => step.weight === one)) ?? 'safe'
    classes.push([change, plan.refusals.length > 0 ? 'refused' : weight])
  }
  t.deepEqual(classes, listed())

  const count = async () => {
    const tables = ['articles', 'components_shared_seo', 'components_shared_quote', 'articles_tags_links']
    const counts = tables.map(table => `(SELECT count(*)::integer FROM ${table})`)
    return (await database.run({ text: `SELECT ${counts.join()}`, values: [] })).rows[0]
  }
  t.deepEqual(await count(), [2, 3, 3, 2])
  await become(NO_QUOTE)
  t.deepEqual(await count(), [2, 3, 0, 2])
  await become(NO_FRENCH)
  t.deepEqual(await count(), [1, 2, 0, 1])
  await become(NO_SEO)
  t.deepEqual(await count(), [1, 1, 0, 1])
})

test('a table under the name of one that a migration dropped is not taken for Plinth’s', async t => {
  const one = await schemaCase(t)
  const project = (relation: string) =>
    `contentTypes: { book: { attributes: { next: { type: relation, relation: ${relation}, target: book } } } }`
  await one.started(project('manyToMany'))
  await one.started(project('manyToOne'))
  await one.sql('CREATE TABLE books_next_links (line text)')
  await one.started(project('manyToOne').replace('next', 'other'))
  t.regex(
    (await one.refused(project('manyToMany'))).join('\n'),
    /table "books_next_links" .* was not made by Plinth/,
  )
})
