import { readFileSync } from 'node:fs'
import test from 'ava'
import type { Path } from '../../core/faults/diagnostic.ts'
import type { ApiChange } from '../../tools/cli/review/compare-api.ts'
import { compareProtocols } from '../../tools/cli/review/review.ts'
import { readChanges } from '../database/changes-page.ts'
import { readRelations, type Sides } from '../database/relations-page.ts'
import { compiled } from '../model/compiled.ts'
import { declare } from '../model/declare.ts'

// The columns REST and GraphQL of docs/migrations.md, which say what clients notice, against `plinth review`.

const BOTH = 'graphql: { endpoints: { /graphql: nested, /graphql5: flat } }\n'

async function changesOf(before: string, after: string) {
  const [old, now] = await Promise.all([before, after].map(yaml => declare(BOTH + yaml)))
  if (!old || !now) throw new TypeError('two projects')
  return compareProtocols({ project: old, model: compiled(old) }, { project: now, model: compiled(now) })
}

const levelOf = (changes: readonly ApiChange[]): string =>
  (['breaking', 'risky', 'safe'] as const).find(level => changes.some(each => each.level === level)) ?? 'none'

/** The changes of these content-types. */
const under = (changes: readonly ApiChange[], ...keys: readonly string[]) =>
  changes.filter(({ now, was }) => [now, was].some(path => isUnder(path, keys)))

const isUnder = (path: Path | null, keys: readonly string[]): boolean =>
  path?.[0] === 'contentTypes' && keys.includes(String(path[1]))

const messages = (changes: readonly ApiChange[]) =>
  changes.map(({ level, message }) => `${level}: ${message}`).join('\n')

const show = (declared: string | null): string => (declared === null ? '' : `, value: ${declared}`)

test('review agrees with the labels of each change of an attribute', async t => {
  const rows = readChanges()
  const project = (of: (row: (typeof rows)[number]) => string | null) =>
    `contentTypes:\n${rows.map((row, index) => `  t${index}: { attributes: { title: string${show(of(row))} } }\n`).join('')}`
  const { rest, graphql } = await changesOf(
    project(({ before }) => before),
    project(({ after }) => after),
  )
  rows.forEach((row, index) => {
    const at = `docs/migrations.md:${row.line}: ${row.before} -> ${row.after}`
    const [own, schema] = [under(rest, `t${index}`), under(graphql, `t${index}`)]
    t.is(levelOf(own), row.rest, `${at}, REST\n${messages(own)}`)
    t.is(levelOf(schema), row.graphql, `${at}, GraphQL\n${messages(schema)}`)
  })
  t.deepEqual(
    graphql.filter(({ now, was }) => !now && !was).map(({ message }) => message),
    [],
    'each change of the schema has a line of the project file',
  )
})

test('review agrees with the labels of each change of a relation', async t => {
  const rows = readRelations()
  const side = (name: string, declared: string | null, target: string): string => {
    if (declared === null) return ''
    const own = declared.includes('target:') ? declared : `${declared}, target: ${target}`
    return `, ${name}: { type: relation, relation: ${own} }`
  }
  const project = (of: (row: (typeof rows)[number]) => Sides) =>
    `contentTypes:\n  other: { attributes: { name: string } }\n${rows
      .map((row, index) => {
        const { x, y } = of(row)
        return (
          `  book${index}: { attributes: { name: string${side('x', x, `tag${index}`)} } }\n` +
          `  tag${index}: { attributes: { name: string${side('y', y, `book${index}`)} } }\n`
        )
      })
      .join('')}`
  const { rest, graphql } = await changesOf(
    project(({ before }) => before),
    project(({ after }) => after),
  )
  rows.forEach((row, index) => {
    const at = `docs/migrations.md:${row.line}`
    const keys = [`book${index}`, `tag${index}`]
    const [own, schema] = [under(rest, ...keys), under(graphql, ...keys)]
    t.is(levelOf(own), row.rest, `${at}, REST\n${messages(own)}`)
    t.is(levelOf(schema), row.graphql, `${at}, GraphQL\n${messages(schema)}`)
  })
})

const PROJECT = `
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
      shared: { type: string, localized: false }
      seo: { type: component, component: shared.seo }
      list: { type: component, component: shared.card, repeatable: true }
      blocks: { type: dynamiczone, components: [shared.seo, shared.quote] }
      tags: { type: relation, relation: manyToMany, target: tag }
  note:
    draftAndPublish: true
    attributes: { name: string }
  tag: { attributes: { name: string } }
  spare: { attributes: { name: string } }
`

const instead = (...pairs: readonly (readonly [string, string])[]): string =>
  pairs.reduce((yaml, [text, other]) => {
    if (!yaml.includes(text)) throw new TypeError(text)
    return yaml.replaceAll(text, other)
  }, PROJECT)

const without = (...names: readonly string[]): string =>
  instead(...names.map(name => [new RegExp(`^ *${name}: .*\n`, 'm').exec(PROJECT)?.[0] ?? name, ''] as const))

const NO_QUOTE: readonly [string, string] = ['[shared.seo, shared.quote]', '[shared.seo]']
const NO_DRAFTS = instead(['    draftAndPublish: true\n', ''])
const NO_LOCALES = instead(['    localized: true\n', ''], [', localized: false', ''])
const SHARED = instead(['title: string\n', 'title: { type: string, localized: false }\n'])
const ONE = instead([', repeatable: true', ''])

/** The projects after each change that the page describes in words. */
const CHANGES: Readonly<Record<string, readonly string[]>> = {
  'a type is added': [`${PROJECT}  other: { attributes: { name: string } }\n`],
  'a type is renamed (`renamedFrom`)': [
    instead(['  tag: {', '  label: { renamedFrom: tag,'], ['target: tag', 'target: label']),
  ],
  'a type is gone, with documents': [without('tags', 'tag')],
  'a type is gone, without documents': [without('spare')],
  'an attribute is renamed (`renamedFrom`)': [
    instead(['title: string', 'heading: { type: string, renamedFrom: title }']),
  ],
  'a component is renamed (`renamedFrom`)': [
    instead(
      ['shared.seo: {', 'shared.meta: { renamedFrom: shared.seo,'],
      ['component: shared.seo', 'component: shared.meta'],
      ['[shared.seo,', '[shared.meta,'],
    ),
  ],
  'an attribute that holds a component is renamed (`renamedFrom`)': [
    instead(['seo: { type: component,', 'head: { type: component, renamedFrom: seo,']),
  ],
  'an attribute that holds a component is gone': [without('seo')],
  'a component leaves a dynamic zone': [instead(NO_QUOTE)],
  'a component joins a dynamic zone': [
    instead(['[shared.seo, shared.quote]', '[shared.seo, shared.quote, shared.card]']),
  ],
  'a component is gone, with all that held it': [
    instead(NO_QUOTE, ['  shared.quote: { attributes: { text: string } }\n', '']),
  ],
  'a locale is added': [instead(['[en, fr, de]', '[en, fr, de, it]'])],
  'a locale is renamed (`renamedFrom`)': [
    instead(['[en, fr, de]', '[en, { code: fr-CA, renamedFrom: fr }, de]']),
  ],
  'a locale is gone, with versions in it': [instead(['[en, fr, de]', '[en, de]'])],
  'a locale is gone, without versions in it': [instead(['[en, fr, de]', '[en, fr]'])],
  '`draftAndPublish` on': [instead(['  tag: {', '  tag: { draftAndPublish: true,'])],
  '`draftAndPublish` off': [NO_DRAFTS],
  '`draftAndPublish` off, with drafts that were never published, or edited since': [NO_DRAFTS],
  '`draftAndPublish` off, with links that only drafts show': [NO_DRAFTS],
  '`localized` on': [instead(['  tag: {', '  tag: { localized: true,'])],
  '`localized` off': [NO_LOCALES],
  '`localized` off, with versions in other locales': [NO_LOCALES],
  "an attribute's `localized: false` to `true`": [instead([', localized: false', ''])],
  "an attribute's `localized: true` to `false`": [SHARED],
  "an attribute's `localized: true` to `false`, with other values, components or media in further locales": [
    SHARED,
  ],
  'a component becomes a list (`repeatable`), or a dynamic zone that takes it': [
    instead(['component: shared.seo', 'component: shared.seo, repeatable: true']),
    instead([
      '{ type: component, component: shared.seo }',
      '{ type: dynamiczone, components: [shared.seo] }',
    ]),
  ],
  'a list or a zone becomes one component, and each has one entry at most': [
    ONE,
    instead([
      '{ type: dynamiczone, components: [shared.seo, shared.quote] }',
      '{ type: component, component: shared.quote }',
    ]),
  ],
  'the same, and some have more entries': [ONE],
  'another component': [instead(['component: shared.seo', 'component: shared.card'])],
}

const PAGE = new URL('../../docs/migrations.md', import.meta.url)

test('review agrees with the labels of each change of types, components, locales and drafts', async t => {
  const labels = readFileSync(PAGE, 'utf8').matchAll(
    /^\| (?!Change )([^|]+) \| \w+ \| [^|]+ \| (\w+) \| (\w+) \|$/gm,
  )
  const listed = new Map([...labels].map(([, change = '', rest, graphql]) => [change, { rest, graphql }]))
  t.deepEqual([...listed.keys()].toSorted(), Object.keys(CHANGES).toSorted())
  for (const [change, projects] of Object.entries(CHANGES))
    for (const project of projects) {
      const { rest, graphql } = await changesOf(PROJECT, project)
      const found = { rest: levelOf(rest), graphql: levelOf(graphql) }
      t.deepEqual(found, listed.get(change), `${change}\n${messages(rest)}\n\n${messages(graphql)}`)
    }
})
