import test, { type ExecutionContext } from 'ava'
import { type Files, openSite } from './site.ts'

/** Every combination of an owner and a target with and without drafts and locales. */
const KINDS = [
  { name: 'plain', options: '' },
  { name: 'draft', options: 'draftAndPublish: true, ' },
  { name: 'local', options: 'localized: true, ' },
  { name: 'both', options: 'draftAndPublish: true, localized: true, ' },
] as const

type Kind = (typeof KINDS)[number]

const PAIRS = KINDS.flatMap(owner => KINDS.map(target => ({ owner, target })))

const project = (owner: Kind, target: Kind): string => `
i18n: { locales: [en, fr], defaultLocale: en }
components:
  part.pick: { attributes: { one: { type: relation, relation: oneToOne, target: thing }, some: { type: relation, relation: oneToMany, target: thing } } }
contentTypes:
  owner:
    ${owner.options ? `${owner.options.split(', ').filter(Boolean).join('\n    ')}` : 'kind: collection'}
    attributes:
      name: { type: string, required: true }
      best: { type: relation, relation: oneToOne, target: thing, inversedBy: bestOf }
      parent: { type: relation, relation: manyToOne, target: thing, inversedBy: children }
      tags: { type: relation, relation: manyToMany, target: thing, inversedBy: taggeds }
      single: { type: relation, relation: manyToOne, target: thing }
      several: { type: relation, relation: oneToMany, target: thing }
      pick: { type: component, component: part.pick }
  thing:
    ${target.options ? `${target.options.split(', ').filter(Boolean).join('\n    ')}` : 'kind: collection'}
    attributes:
      name: { type: string, required: true }
      bestOf: { type: relation, relation: oneToOne, target: owner, mappedBy: best }
      children: { type: relation, relation: oneToMany, target: owner, mappedBy: parent }
      taggeds: { type: relation, relation: manyToMany, target: owner, mappedBy: tags }
`

const isLocal = ({ name }: Kind): boolean => name === 'local' || name === 'both'

const withFrench = (kind: Kind, body: string): string =>
  isLocal(kind) ? `, locales: { fr: { ${body} } }` : ''

const things = (target: Kind): string =>
  ['a', 'b', 'c', 'd']
    .map(
      id =>
        `- { documentId: ${id}, name: ${id.toUpperCase()}${withFrench(target, `name: ${id.toUpperCase()} fr`)} }`,
    )
    .join('\n')

/** French links only point to French versions; owners without locales link to the default locale. */
const LINKS =
  'best: a, parent: b, tags: [c, a, b], single: d, several: [d, c], pick: { one: c, some: [b, a] }'
const owners = (owner: Kind): string => `
- { documentId: x, name: X, ${LINKS}${withFrench(owner, `name: X fr, ${LINKS}`)} }
- { documentId: y, name: Y, parent: b, tags: [b]${withFrench(owner, 'name: Y fr, parent: b, tags: [b]')} }
`

const files = (owner: Kind, target: Kind): Files => ({
  'project.yaml': project(owner, target),
  'content/owners.yaml': owners(owner),
  'content/things.yaml': things(target),
})

const ids = (list: readonly { documentId: string }[]): readonly string[] =>
  list.map(({ documentId }) => documentId)
const POPULATED = ['best', 'parent', 'tags', 'single', 'several']
  .map(each => `populate[${each}]=true`)
  .join('&')

interface Site {
  // biome-ignore lint/suspicious/noExplicitAny: answers are looked into freely
  get(path: string): Promise<any>
}

async function assertForward(t: ExecutionContext, site: Site, query: string): Promise<void> {
  const x = await site.get(`owners/x?${POPULATED}&populate[pick][populate]=*${query}`)
  t.is(x.best.documentId, 'a', query)
  t.is(x.parent.documentId, 'b', query)
  t.deepEqual(ids(x.tags), ['c', 'a', 'b'], query)
  t.is(x.single.documentId, 'd', query)
  t.deepEqual(ids(x.several), ['d', 'c'], query)
  t.is(x.pick.one.documentId, 'c', query)
  t.deepEqual(ids(x.pick.some), ['b', 'a'], query)
}

async function assertBackward(t: ExecutionContext, site: Site, query: string): Promise<void> {
  const populated = 'populate[bestOf]=true&populate[children]=true&populate[taggeds]=true'
  t.is((await site.get(`things/a?${populated}${query}`)).bestOf.documentId, 'x', query)
  const b = await site.get(`things/b?${populated}${query}`)
  t.deepEqual([...new Set(ids(b.children))], ['x', 'y'], query)
  t.deepEqual([...new Set(ids(b.taggeds))], ['x', 'y'], query)
}

for (const { owner, target } of PAIRS) {
  test(`links from ${owner.name} to ${target.name} documents are read from both sides, in order`, async t => {
    const site = await openSite(t, files(owner, target))
    await site.must()
    for (const status of ['', '&status=draft']) {
      await assertForward(t, site, status)
      await assertBackward(t, site, status)
      if (isLocal(owner)) await assertForward(t, site, `${status}&locale=fr`)
      if (isLocal(owner) && isLocal(target)) await assertBackward(t, site, `${status}&locale=fr`)
    }
    t.deepEqual(await site.must(), {})
  })

  test(`links from ${owner.name} to ${target.name} documents can be written from the other side`, async t => {
    const inverse = 'bestOf: x, children: [y, x], taggeds: [y, x]'
    const site = await openSite(t, {
      'project.yaml': project(owner, target),
      'content/owners.yaml': ['x', 'y']
        .map(id => `- { documentId: ${id}, name: ${id}${withFrench(owner, `name: ${id} fr`)} }`)
        .join('\n'),
      'content/things.yaml': `- { documentId: t, name: T, ${inverse}${withFrench(target, isLocal(owner) ? `name: T fr, ${inverse}` : 'name: T fr')} }`,
    })
    await site.must()
    for (const query of isLocal(owner) && isLocal(target)
      ? ['', '&status=draft', '&locale=fr']
      : ['', '&status=draft']) {
      const thing = await site.get(
        `things/t?populate[bestOf]=true&populate[children]=true&populate[taggeds]=true${query}`,
      )
      t.is(thing.bestOf.documentId, 'x', query)
      t.deepEqual(ids(thing.children), ['y', 'x'], query)
      t.deepEqual(ids(thing.taggeds), ['y', 'x'], query)
      const x = await site.get(`owners/x?${POPULATED}${query}`)
      t.is(x.best.documentId, 't', query)
      t.is(x.parent.documentId, 't', query)
      t.deepEqual(ids(x.tags), ['t'], query)
    }
  })
}
