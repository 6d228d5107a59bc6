import test from 'ava'
import { compileStorage } from '../../core/model/compile-storage.ts'
import type { Storage, Table } from '../../core/model/storage.ts'
import { modelOf, tableOf } from './compiled.ts'
import { golden } from './golden.ts'
import { printColumn, printIndex, printTables } from './print-tables.ts'

const VERSIONS = {
  plain: '',
  drafts: 'draftAndPublish: true,',
  locales: 'localized: true,',
  both: 'draftAndPublish: true, localized: true,',
} as const
type Version = keyof typeof VERSIONS
const versions = Object.keys(VERSIONS) as Version[]

/** The owner's attribute, and the target's inverse one. */
const FORMS: Readonly<Record<string, readonly [owner: string, target: string]>> = {
  'one-way oneToOne': ['link: { type: relation, relation: oneToOne, target: there }', ''],
  'two-way oneToOne': [
    'link: { type: relation, relation: oneToOne, target: there, inversedBy: back }',
    'back: { type: relation, relation: oneToOne, target: here, mappedBy: link }',
  ],
  'one-way manyToOne': ['link: { type: relation, relation: manyToOne, target: there }', ''],
  'two-way manyToOne': [
    'link: { type: relation, relation: manyToOne, target: there, inversedBy: back }',
    'back: { type: relation, relation: oneToMany, target: here, mappedBy: link }',
  ],
  'one-way oneToMany': ['link: { type: relation, relation: oneToMany, target: there }', ''],
  'one-way manyToMany': ['link: { type: relation, relation: manyToMany, target: there }', ''],
  'two-way manyToMany': [
    'link: { type: relation, relation: manyToMany, target: there, inversedBy: back }',
    'back: { type: relation, relation: manyToMany, target: here, mappedBy: link }',
  ],
}

for (const [form, [owner, target]] of Object.entries(FORMS)) {
  test(`a ${form} relation is stored alike in both directions, for every kind of owner and target`, async t => {
    const parts: string[] = []
    for (const from of versions) {
      for (const to of versions) {
        const storage = compileStorage(
          await modelOf(`contentTypes:
  here: { ${VERSIONS[from]} attributes: { ${owner} } }
  there: { ${VERSIONS[to]} attributes: { ${target} } }`),
        )
        parts.push(`${from} → ${to}\n${printLink(storage, 'heres')}`)
      }
    }
    golden(t, form.replaceAll(' ', '-'), `${parts.join('\n')}`)
  })
}

test('a relation in a component stores the columns that any of its owners requires', async t => {
  const parts: string[] = []
  for (const to of versions) {
    const storage = compileStorage(
      await modelOf(`
components:
  part.here:
    attributes:
      link: { type: relation, relation: oneToOne, target: there }
      links: { type: relation, relation: oneToMany, target: there }
contentTypes:
  there: { ${VERSIONS[to]} attributes: { parts: { type: component, component: part.here } } }`),
    )
    parts.push(`component → ${to}\n${printLink(storage, 'components_part_here')}`)
  }
  golden(t, 'in-a-component', parts.join('\n'))
})

test('media are links to files; a list that locales share belongs to the document instead of a row', async t => {
  const parts: string[] = []
  for (const from of versions) {
    const storage = compileStorage(
      await modelOf(`contentTypes:
  here:
    ${VERSIONS[from].replaceAll(',', '\n   ')}
    attributes:
      cover: { type: media }
      own: { type: media, multiple: true }
      shared: { type: media, multiple: true, localized: false }`),
    )
    parts.push(`${from} → file\n${printLink(storage, 'heres')}`)
  }
  golden(t, 'media', parts.join('\n'))
})

/** The part of the tables that the link alone brings along. */
function printLink(storage: Storage, owner: string): string {
  const table = tableOf(storage, owner)
  const columns = table.columns.filter(({ attribute }) => attribute !== undefined)
  const names = new Set(columns.map(({ name }) => name))
  const indexes = table.indexes.filter(index => index.columns.some(column => names.has(column)))
  const links: readonly Table[] = storage.tables.filter(({ name }) => name.startsWith(`${owner}_`))
  const own = [...columns.map(printColumn), ...indexes.map(printIndex)].join('\n')
  return `${[own, printTables(links)]
    .join('\n')
    .trim()
    .replace(/^(?=.)/gm, '  ')}\n`
}
