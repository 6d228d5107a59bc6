import test from 'ava'
import { type Files, openSite, type Site } from './site.ts'

const PROJECT = `
i18n: { locales: [en, fr], defaultLocale: en }
components:
  leaf.word: { attributes: { text: string } }
  twig.words: { attributes: { label: string, words: { type: component, component: leaf.word, repeatable: true } } }
  branch.part: { attributes: { title: string, twigs: { type: component, component: twig.words, repeatable: true } } }
contentTypes:
  page:
    draftAndPublish: true
    localized: true
    attributes:
      title: { type: string, required: true }
      kind: { type: string, localized: false }
      meta: json
      price: { type: decimal, localized: false }
      at: datetime
      part: { type: component, component: branch.part }
      parts: { type: component, component: branch.part, repeatable: true, localized: false }
      zone: { type: dynamiczone, components: [leaf.word, twig.words, branch.part] }
      notes: { type: relation, relation: oneToMany, target: note }
  note:
    attributes:
      name: { type: string, required: true, unique: true }
      text: text
`

const page = (more: string): string => `on: sync
documents:
  - documentId: home
    title: Home
    kind: front
    meta: { b: [1, 2], a: "é" }
    price: 1.005
    at: 2024-05-06T07:08:09+02:00
    ${more}
    locales: { fr: { title: Accueil } }
`

const PARTS = `part: { title: P, twigs: [{ label: one, words: [{ text: a }, { text: b }] }, { label: two, words: [{ text: c }] }] }
    parts: [{ title: Q1, twigs: [{ label: q }] }, { title: Q2 }]
    zone: [{ __component: leaf.word, text: w }, { __component: branch.part, title: z, twigs: [{ words: [{ text: deep }] }] }]
    notes: [n1, n2]`

const NOTES = '[{ documentId: n1, name: N1 }, { documentId: n2, name: N2 }, { documentId: n3, name: N3 }]'

const FILES: Files = {
  'project.yaml': PROJECT,
  'content/notes.yaml': NOTES,
  'content/pages.yaml': page(PARTS),
}

const DEEP =
  'pages/home?populate[part][populate][twigs][populate]=words&populate[parts][populate]=twigs&populate[notes]=true&populate[zone][on][leaf.word]=true&populate[zone][on][branch.part][populate][twigs][populate]=words'

const written = (site: Site): readonly string[] =>
  site.statements
    .map(({ text }) => text.split(' ').slice(0, 3).join(' '))
    .filter(text => /^(INSERT|UPDATE|DELETE)/.test(text))

test('components nested three deep, zones and shared attributes exist in both versions and both locales', async t => {
  const site = await openSite(t, FILES)
  await site.must()
  const published = await site.get(DEEP)
  const draft = await site.get(`${DEEP}&status=draft`)
  t.deepEqual(
    published.part.twigs.map((twig: { words: { text: string }[] }) => twig.words.map(({ text }) => text)),
    [['a', 'b'], ['c']],
  )
  t.deepEqual(
    published.zone.map((each: { __component: string }) => each.__component),
    ['leaf.word', 'branch.part'],
  )
  t.is(published.zone[1].twigs[0].words[0].text, 'deep')
  for (const name of ['part', 'parts', 'zone']) t.deepEqual(draft[name], published[name], name)
  t.deepEqual(published.meta, { b: [1, 2], a: 'é' })
  t.is(published.price, 1.01)
  t.is(published.at, '2024-05-06T05:08:09.000Z')
  const french = await site.get(`${DEEP}&locale=fr`)
  t.is(french.title, 'Accueil')
  t.is(french.kind, 'front')
  t.is(french.part, null)
  t.deepEqual(french.parts, published.parts)
})

test('a second start writes nothing and runs one statement', async t => {
  const site = await openSite(t, FILES)
  t.deepEqual(await site.must(), { 'api::page.page': 1, 'api::note.note': 3 })
  t.deepEqual(await site.must(), {})
  t.is(site.statements.length, 1)
})

test('a reformatted file changes no row', async t => {
  const site = await openSite(t, FILES)
  await site.must()
  await site.must({
    'content/pages.yaml': page(PARTS)
      .replace('price: 1.005', 'price: "1.01"')
      .replace('05-06T07:08:09+02:00', '05-06T05:08:09Z'),
  })
  t.deepEqual(
    written(site),
    ['INSERT INTO "plinth_content"'].filter(text => written(site).includes(text)),
  )
})

test('on: sync changes the columns that the file changes, in its own versions, and no other', async t => {
  const site = await openSite(t, FILES)
  await site.must()
  const before = await site.get(DEEP)
  await site.must({ 'content/pages.yaml': page(PARTS).replace('title: Home', 'title: New home') })
  t.deepEqual(written(site), ['UPDATE "pages" AS', 'INSERT INTO "plinth_content"'])
  const sets = site.statements.flatMap(({ text }) => text.match(/SET (.*) FROM/)?.[1] ?? [])
  t.deepEqual(sets, ['"title" = v."title", "updated_at" = v."updated_at", "published_at" = v."published_at"'])
  const after = await site.get(DEEP)
  t.is(after.title, 'New home')
  t.is(after.id, before.id)
  t.is(after.createdAt, before.createdAt)
  t.true(after.updatedAt > before.updatedAt)
  t.is((await site.get('pages/home?locale=fr')).title, 'Accueil')
})

test('on: sync keeps the ids of components, updates changed ones, adds and removes others', async t => {
  const site = await openSite(t, FILES)
  await site.must()
  const before = await site.get(DEEP)
  const changed = PARTS.replace('text: b', 'text: B')
    .replace(', { label: two, words: [{ text: c }] }', '')
    .replace('{ title: Q2 }', '{ title: Q2 }, { title: Q3 }')
  await site.must({ 'content/pages.yaml': page(changed) })
  for (const status of ['', '&status=draft']) {
    const after = await site.get(DEEP + status)
    t.is(after.part.id, before.part.id)
    t.deepEqual(after.part.twigs, [
      {
        ...before.part.twigs[0],
        words: [before.part.twigs[0].words[0], { ...before.part.twigs[0].words[1], text: 'B' }],
      },
    ])
    t.deepEqual(after.parts.slice(0, 2), before.parts)
    t.is(after.parts[2].title, 'Q3')
    t.deepEqual(after.zone, before.zone)
  }
  const orphans = await site.rows(
    'SELECT count(*) FROM components_leaf_word WHERE owner_key NOT IN (SELECT id FROM components_twig_words) AND owner LIKE $1',
    ['twig%'],
  )
  t.deepEqual(orphans, [[0]])
})

test('on: sync updates order and members of a list of links', async t => {
  const site = await openSite(t, FILES)
  await site.must()
  const links = async () =>
    (await site.get('pages/home?populate=notes')).notes.map(
      ({ documentId }: { documentId: string }) => documentId,
    )
  const places = async () =>
    (await site.rows('SELECT position FROM pages_notes_links ORDER BY position')).length
  for (const [list, expected] of [
    ['[n1, n2, n3]', ['n1', 'n2', 'n3']],
    ['[n1, n3]', ['n1', 'n3']],
    ['[n2, n1, n3]', ['n2', 'n1', 'n3']],
    ['[n3, n2, n1]', ['n3', 'n2', 'n1']],
    ['[n3, n1]', ['n3', 'n1']],
    ['[n3, n2, n1]', ['n3', 'n2', 'n1']],
    ['[n1, n3]', ['n1', 'n3']],
    ['[n3, n2, n1]', ['n3', 'n2', 'n1']],
    ['[]', []],
  ] as const) {
    await site.must({ 'content/pages.yaml': page(PARTS.replace('[n1, n2]', list)) })
    t.deepEqual(await links(), expected, list)
    t.is(await places(), expected.length * 2, list)
  }
})

test('on: sync keeps attributes that the file does not set, and clears those set to null', async t => {
  const site = await openSite(t, FILES)
  await site.must()
  await site.rows("UPDATE pages SET kind = 'edited', title = 'edited' WHERE locale = 'en'")
  await site.must({
    'content/pages.yaml': page(PARTS)
      .replace('    kind: front\n', '')
      .replace('meta: { b: [1, 2], a: "é" }', 'meta: null'),
  })
  const home = await site.get('pages/home')
  t.is(home.kind, 'edited')
  t.is(home.title, 'Home')
  t.is(home.meta, null)
})

test('a changed shared attribute is written to every locale, and updates all timestamps', async t => {
  const site = await openSite(t, FILES)
  await site.must()
  const before = await site.get('pages/home?locale=fr')
  await site.must({ 'content/pages.yaml': page(PARTS).replace('kind: front', 'kind: back') })
  const after = await site.get('pages/home?locale=fr')
  t.is(after.kind, 'back')
  t.true(after.updatedAt > before.updatedAt)
})

test('a locale added later starts with the shared attributes', async t => {
  const site = await openSite(t, {
    ...FILES,
    'content/pages.yaml': page(PARTS).replace(/ {4}locales.*\n/, ''),
  })
  await site.must()
  await site.must({ 'content/pages.yaml': page(PARTS).replace('    kind: front\n', '') })
  const french = await site.get('pages/home?locale=fr&populate=parts')
  t.is(french.title, 'Accueil')
  t.is(french.kind, 'front')
  t.is(french.parts.length, 2)
})

test('deleted documents do not come back, and edited ones stay', async t => {
  const site = await openSite(t, FILES)
  await site.must()
  await site.rows("DELETE FROM notes WHERE document_id = 'n3'")
  await site.rows("UPDATE notes SET text = 'edited' WHERE document_id = 'n1'")
  const changed = NOTES.replace('name: N1', 'name: N1 changed').replace(
    ']',
    ', { documentId: n4, name: N4 }]',
  )
  t.deepEqual(await site.must({ 'content/notes.yaml': changed }), { 'api::note.note': 1 })
  const notes = await site.get('notes?sort=documentId')
  t.deepEqual(
    notes.map(({ documentId, name, text }: Record<string, unknown>) => [documentId, name, text]),
    [
      ['n1', 'N1', 'edited'],
      ['n2', 'N2', null],
      ['n4', 'N4', null],
    ],
  )
})

test('a document without documentId is recognised by its unique attribute', async t => {
  const site = await openSite(t, {
    ...FILES,
    'content/notes.yaml':
      '[{ documentId: n1, name: N1 }, { documentId: n2, name: N2 }, { name: Anonymous, text: one }]',
  })
  await site.must()
  const [note] = await site.get('notes?filters[name]=Anonymous')
  t.regex(note.documentId, /^[a-z][a-z0-9]{23}$/)
  t.deepEqual(
    await site.must({
      'content/notes.yaml':
        '[{ documentId: n1, name: N1 }, { documentId: n2, name: N2 }, { name: Anonymous, text: two }]',
    }),
    {},
  )
})

const SHELF = `
components:
  shelf.label: { attributes: { word: { type: string, unique: true } } }
contentTypes:
  box:
    draftAndPublish: true
    attributes: { code: { type: string, required: true, unique: true }, size: { type: integer, unique: true, required: true } }
  item:
    attributes:
      code: { type: uid, required: true }
      count: { type: biginteger, required: true, unique: true }
      price: { type: decimal, required: true, unique: true }
      weight: { type: float, required: true, unique: true }
      day: { type: date, required: true, unique: true }
      at: { type: datetime, required: true, unique: true }
      note: { type: text, maxLength: 40, required: true, unique: true }
      labels: { type: component, component: shelf.label, repeatable: true }
  flag:
    attributes:
      side: { type: enumeration, enum: [left, right], required: true, unique: true }
      word: { type: string, unique: true }
`

const items = (...turns: readonly number[]): string =>
  `on: sync\ndocuments:\n${turns
    .map(
      (turn, index) =>
        `  - { documentId: i${index}, code: c${turn}, count: "${turn}", price: ${turn}, weight: ${turn}, day: 2024-01-0${turn}, at: 2024-01-0${turn}T00:00:00Z, note: n${turn}, labels: [{ word: w${turn} }] }\n`,
    )
    .join('')}`

test('documents can swap unique required values of every type, and keep their rows', async t => {
  const boxes = (a: string, b: string) =>
    `on: sync\ndocuments: [{ documentId: one, code: ${a}, size: ${a.length} }, { documentId: two, code: ${b}, size: ${b.length} }]`
  const site = await openSite(t, {
    'project.yaml': SHELF,
    'content/boxes.yaml': boxes('a', 'bb'),
    'content/items.yaml': items(1, 2, 3),
  })
  await site.must()
  const ids = await site.rows('SELECT id, document_id FROM items ORDER BY id')
  await site.must({ 'content/boxes.yaml': boxes('bb', 'a'), 'content/items.yaml': items(2, 3, 1) })
  const found = await site.get('items?sort=id&populate=labels')
  t.deepEqual(
    found.map((each: Record<string, unknown>) => [
      each.code,
      each.count,
      each.price,
      each.weight,
      each.day,
      each.at,
      each.note,
      (each.labels as { word: string }[])[0]?.word,
    ]),
    [2, 3, 1].map(turn => [
      `c${turn}`,
      String(turn),
      turn,
      turn,
      `2024-01-0${turn}`,
      `2024-01-0${turn}T00:00:00.000Z`,
      `n${turn}`,
      `w${turn}`,
    ]),
  )
  t.deepEqual(await site.rows('SELECT id, document_id FROM items ORDER BY id'), ids)
  t.deepEqual(
    await site.rows('SELECT document_id, status, code, size FROM boxes ORDER BY document_id, status'),
    [
      ['one', 'draft', 'bb', 2],
      ['one', 'published', 'bb', 2],
      ['two', 'draft', 'a', 1],
      ['two', 'published', 'a', 1],
    ],
  )
})

test('unique values that cannot be swapped, or that another entry keeps, are reported with both positions', async t => {
  const flags = (a: string, b: string) =>
    `on: sync\ndocuments:\n  - { documentId: one, side: ${a} }\n  - { documentId: two, side: ${b} }\n`
  const site = await openSite(t, { 'project.yaml': SHELF, 'content/flags.yaml': flags('left', 'right') })
  await site.must()
  t.deepEqual(await site.start({ 'content/flags.yaml': flags('right', 'left') }), [
    'content/flags.yaml:3:30 `side` must be unique, and another document has `right` already: documents cannot exchange such values in one start. Give one of them an unused value, start, and then write the intended values',
  ])
  await site.rows(`UPDATE flags SET word = 'x' WHERE document_id = 'two'`)
  t.deepEqual(
    await site.start({
      'content/flags.yaml':
        'on: sync\ndocuments: [{ documentId: one, side: left, word: x }, { documentId: two, side: right }]',
    }),
    ['content/flags.yaml:2:50 `word` must be unique, and another document has `x` already'],
  )
})

test('a unique component value that another document has is reported with its position', async t => {
  const site = await openSite(t, { 'project.yaml': SHELF, 'content/items.yaml': items(1, 2) })
  await site.must()
  t.deepEqual(
    await site.start({
      'content/items.yaml': items(1, 2, 3).replace(
        '{ word: w3 }',
        '{ word: w3 }, { word: w2 }, { word: w3 }',
      ),
    }),
    [
      'content/items.yaml:5:150 `labels[1].word` must be unique, and another component has `w2` already (content/items.yaml:4:136 has it first)',
      'content/items.yaml:5:164 `labels[2].word` must be unique, and another component has `w3` already (content/items.yaml:5:136 has it first)',
    ],
  )
})
