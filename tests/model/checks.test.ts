import test from 'ava'
import { MODEL_CODES } from '../../core/model/check/finding.ts'
import { compileModel } from '../../core/model/compile-model.ts'
import { faultsOf } from './compiled.ts'
import { declare } from './declare.ts'

/** Attributes `a0`, `a1` and so on. */
const numbered = (count: number): string =>
  Array.from({ length: count }, (_, index) => `a${index}: string`).join(', ')

/** Project texts and all of their diagnostics. */
const CASES: Readonly<Record<string, readonly [yaml: string, ...reported: string[]]>> = {
  'a target that does not exist is named, with the nearest one': [
    `contentTypes:
  author: { attributes: { name: string } }
  article: { attributes: { author: { type: relation, relation: manyToOne, target: autor } } }`,
    '3:83 contentTypes.article.attributes.author.target: unknown target `autor`: did you mean `author`?',
  ],
  'a component that does not exist is named, with the nearest one': [
    `components: { shared.seo: { attributes: { title: string } } }
contentTypes:
  article:
    attributes:
      seo: { type: component, component: shared.sea }
      blocks: { type: dynamiczone, components: [shared.seo, other.thing] }`,
    '5:42 contentTypes.article.attributes.seo.component: unknown component `shared.sea`: did you mean `shared.seo`?',
    '6:61 contentTypes.article.attributes.blocks.components[1]: unknown component `other.thing`',
  ],
  'a cycle of components is reported with all its members': [
    `components:
  a.one: { attributes: { next: { type: component, component: a.two } } }
  a.two: { attributes: { parts: { type: dynamiczone, components: [a.three] } } }
  a.three: { attributes: { back: { type: component, component: a.one, repeatable: true } } }
  a.self: { attributes: { self: { type: component, component: a.self } } }`,
    '4:34 components["a.three"].attributes.back: components contain each other in a cycle: `a.one` → `a.two` → `a.three` → `a.one`',
    '5:33 components["a.self"].attributes.self: components contain each other in a cycle: `a.self` → `a.self`',
  ],
  'a missing inverse attribute is reported with the nearest one': [
    `contentTypes:
  author: { attributes: { articles: { type: relation, relation: oneToMany, target: article, mappedBy: author } } }
  article: { attributes: { author: { type: relation, relation: manyToOne, target: author, inversedBy: articels } } }`,
    '2:103 contentTypes.author.attributes.articles.mappedBy: `article.author` says `inversedBy: articels`, not `inversedBy: articles`',
    '3:103 contentTypes.article.attributes.author.inversedBy: `author` has no attribute `articels`: did you mean `articles`?',
  ],
  'the other side is a relation': [
    `contentTypes:
  author: { attributes: { articles: string } }
  article: { attributes: { author: { type: relation, relation: manyToOne, target: author, inversedBy: articles } } }`,
    '3:103 contentTypes.article.attributes.author.inversedBy: `author.articles` is of type string, not a relation',
  ],
  'the other side leads back': [
    `contentTypes:
  page: { attributes: { author: { type: relation, relation: manyToOne, target: author, inversedBy: pages } } }
  author:
    attributes:
      pages: { type: relation, relation: oneToMany, target: page, mappedBy: author }
  article: { attributes: { author: { type: relation, relation: manyToOne, target: author, inversedBy: pages } } }`,
    '6:103 contentTypes.article.attributes.author.inversedBy: `author.pages` leads to `page`, not back to `article`',
  ],
  'a path of REST is not that of a GraphQL endpoint or of the metrics': [
    `graphql: { endpoints: { /api/Tags: flat, /api/homepage/more: nested, /api/other: flat } }
server: { metrics: { enabled: true, path: /api/notes } }
contentTypes:
  tag: { attributes: { name: string } }
  homepage: { kind: single, attributes: { name: string } }
  note: { attributes: { name: string } }`,
    '4:3 contentTypes.tag: content-type `tag` at `/api/tags` and the GraphQL endpoint at `/api/Tags` would hide each other',
    '5:3 contentTypes.homepage: content-type `homepage` at `/api/homepage` and the GraphQL endpoint at `/api/homepage/more` would hide each other',
    '6:3 contentTypes.note: content-type `note` at `/api/notes` and the metrics at `/api/notes` would hide each other',
  ],
  'a name over the limit of PostgreSQL is reported with its length': [
    `contentTypes:
  article:
    attributes:
      ${'a'.repeat(64)}: string`,
    `4:7 contentTypes.article.attributes.${'a'.repeat(64)}: the name has 64 characters; an attribute's has at most 63`,
  ],
  'the other side names this one': [
    `contentTypes:
  author: { attributes: { articles: { type: relation, relation: oneToMany, target: article } } }
  article: { attributes: { author: { type: relation, relation: manyToOne, target: author, inversedBy: articles } } }`,
    '3:103 contentTypes.article.attributes.author.inversedBy: `author.articles` does not name `article.author`: give it `mappedBy: author`',
  ],
  'the other side has the opposite kind': [
    `contentTypes:
  author: { attributes: { articles: { type: relation, relation: manyToMany, target: article, mappedBy: author } } }
  article: { attributes: { author: { type: relation, relation: manyToOne, target: author, inversedBy: articles } } }`,
    '3:103 contentTypes.article.attributes.author.inversedBy: `article.author` is manyToOne, so `author.articles` must be oneToMany, not manyToMany',
  ],
  'two sides with the same role are reported once': [
    `contentTypes:
  author: { attributes: { articles: { type: relation, relation: manyToMany, target: article, mappedBy: authors } } }
  article: { attributes: { authors: { type: relation, relation: manyToMany, target: author, mappedBy: articles } } }`,
    '3:103 contentTypes.article.attributes.authors.mappedBy: `article.authors` and `author.articles` both say `mappedBy`: one must say `inversedBy`, the other `mappedBy`',
  ],
  'a side has one role': [
    `contentTypes:
  article:
    attributes:
      one: { type: relation, relation: oneToOne, target: article, inversedBy: two, mappedBy: two }
      two: { type: relation, relation: oneToOne, target: article, mappedBy: one }`,
    '4:79 contentTypes.article.attributes.one.inversedBy: `article.one` has both `inversedBy` and `mappedBy`: a side either owns the link or mirrors it',
  ],
  'of one and many, the many own the link': [
    `contentTypes:
  author: { attributes: { articles: { type: relation, relation: oneToMany, target: article, inversedBy: author } } }
  article: { attributes: { author: { type: relation, relation: manyToOne, target: author, mappedBy: articles } } }`,
    '2:105 contentTypes.author.attributes.articles.inversedBy: `author.articles` is oneToMany, which takes `mappedBy`, not `inversedBy`',
    '3:101 contentTypes.article.attributes.author.mappedBy: `article.author` is manyToOne, which takes `inversedBy`, not `mappedBy`',
  ],
  'a relation is not its own other side': [
    `contentTypes:
  person: { attributes: { partner: { type: relation, relation: oneToOne, target: person, inversedBy: partner } } }`,
    '2:102 contentTypes.person.attributes.partner.inversedBy: `person.partner` cannot be its own other side',
  ],
  'a relation in a component is one-way': [
    `components: { a.part: { attributes: { author: { type: relation, relation: manyToOne, target: author, inversedBy: parts } } } }
contentTypes: { author: { attributes: { name: string } } }`,
    '1:114 components["a.part"].attributes.author.inversedBy: `a.part.author` is in a component, where relations are one-way: leave out `inversedBy`',
  ],
  'relations and uids are never shared by locales': [
    `contentTypes:
  article:
    localized: true
    attributes:
      title: { type: string, localized: false }
      slug: { type: uid, targetField: title, localized: false }
      other: { type: relation, relation: oneToOne, target: article, localized: false }`,
    '6:57 contentTypes.article.attributes.slug.localized: `article.slug` cannot be shared by all locales: a uid always has one value per locale',
    '7:80 contentTypes.article.attributes.other.localized: `article.other` cannot be shared by all locales: a relation always has one value per locale',
  ],
  'a uid is generated from a text attribute that exists': [
    `contentTypes:
  article:
    attributes:
      title: string
      rating: integer
      one: { type: uid, targetField: titel }
      two: { type: uid, targetField: rating }
      three: { type: uid, generate: true }`,
    '6:38 contentTypes.article.attributes.one.targetField: unknown attribute `titel`: did you mean `title`?',
    '7:38 contentTypes.article.attributes.two.targetField: `article.rating` is of type integer: a uid is generated from a text attribute',
    '8:37 contentTypes.article.attributes.three.generate: `article.three` cannot be generated without a `targetField`',
  ],
  'the values of an enumeration are distinct': [
    `contentTypes:
  article:
    attributes:
      one: { type: enumeration, enum: [a b, a_b, c, c] }
      two: { type: enumeration, enum: [news, opinion], default: nws, backfill: nothing }
      four: { type: enumeration, enum: [old, { value: new, renamedFrom: old }] }`,
    '4:53 contentTypes.article.attributes.one.enum[3]: the value `c` is given twice',
    '5:65 contentTypes.article.attributes.two.default: `nws` is not one of the values: did you mean `news`?',
    '5:80 contentTypes.article.attributes.two.backfill: `nothing` is not one of the values',
    '6:73 contentTypes.article.attributes.four.enum[1].renamedFrom: `new` cannot be renamed from `old`, which is still a value',
  ],
  'the values of an enumeration fit into their column': [
    `contentTypes: { article: { attributes: { kind: { type: enumeration, enum: [${'x'.repeat(256)}] } } } }`,
    "1:76 contentTypes.article.attributes.kind.enum[0]: the value has 256 characters; an enumeration's have at most 255",
  ],
  'a regular expression can be read': [
    'contentTypes: { article: { attributes: { title: { type: string, regex: "(" } } } }',
    '1:72 contentTypes.article.attributes.title.regex: Invalid regular expression: /(/: Unterminated group',
  ],
  'an index names columns of its type': [
    `components: { a.part: { attributes: { title: string } } }
contentTypes:
  author: { attributes: { articles: { type: relation, relation: oneToMany, target: article, mappedBy: author } } }
  article:
    attributes:
      title: string
      body: richtext
      part: { type: component, component: a.part }
      pictures: { type: media, multiple: true }
      author: { type: relation, relation: manyToOne, target: author, inversedBy: articles }
      others: { type: relation, relation: manyToMany, target: article }
    indexes: [[titel], [body], [part], [pictures], [others], [author, publishedAt], [locale]]`,
    '12:16 contentTypes.article.indexes[0][0]: unknown attribute `titel`: did you mean `title`?',
    '12:25 contentTypes.article.indexes[1][0]: `article.body` is of type richtext, which is too large for an index',
    '12:33 contentTypes.article.indexes[2][0]: `article.part` is stored in other tables: it cannot be part of an index',
    '12:41 contentTypes.article.indexes[3][0]: `article.pictures` is a list: it cannot be part of an index',
    '12:53 contentTypes.article.indexes[4][0]: `article.others` is not a column of `article`: it cannot be part of an index',
    '12:86 contentTypes.article.indexes[6][0]: unknown attribute `locale`',
  ],
  'what is renamed is gone, and went to one place': [
    `i18n: { locales: [en, { code: fr, renamedFrom: en }] }
components:
  a.one: { renamedFrom: a.two, attributes: { title: string } }
  a.two: { attributes: { title: string } }
contentTypes:
  article:
    renamedFrom: page
    attributes:
      one: { type: string, renamedFrom: two }
      two: string
      three: { type: string, renamedFrom: four }
      five: { type: string, renamedFrom: four }
  page: { attributes: { title: string } }`,
    '1:48 i18n.locales[1].renamedFrom: `fr` cannot be renamed from `en`, which still exists',
    '3:25 components["a.one"].renamedFrom: `a.one` cannot be renamed from `a.two`, which still exists',
    '7:18 contentTypes.article.renamedFrom: `article` cannot be renamed from `page`, which still exists',
    '9:41 contentTypes.article.attributes.one.renamedFrom: `one` cannot be renamed from `two`, which still exists',
    '12:42 contentTypes.article.attributes.five.renamedFrom: `three` and `five` are both renamed from `four`',
  ],
  'reserved names are refused': [
    `contentTypes:
  user: { attributes: { name: string } }
  login: { pluralApiId: auth, attributes: { name: string } }
  page: { tableName: plinth_pages, attributes: { documentId: string, and: string, toString: string } }
user: { attributes: { email: email, nickname: string } }`,
    '2:3 contentTypes.user: `user` is a reserved name',
    '3:25 contentTypes.login.pluralApiId: `auth`, the plural API ID of `login`, is a reserved name',
    '4:22 contentTypes.page.tableName: table names that begin with `plinth_` are reserved',
    '4:50 contentTypes.page.attributes.documentId: `documentId` is a reserved name',
    '4:70 contentTypes.page.attributes.and: `and` is a reserved name',
    '4:83 contentTypes.page.attributes.toString: `toString` is a reserved name',
    '5:23 user.attributes.email: the built-in user already has an attribute `email`',
  ],
  'API IDs differ, singular and plural': [
    `contentTypes:
  news: { attributes: { title: string } }
  article: { pluralApiId: texts, tableName: articles, attributes: { title: string } }
  texts: { kind: single, tableName: other, attributes: { title: string } }`,
    '2:3 contentTypes.news: the plural of `news` is `news` too: set another `pluralApiId`',
    '4:3 contentTypes.texts: content-type `texts` and content-type `article` have the same API ID: `texts`',
    '4:3 contentTypes.texts: content-type `texts` and content-type `article` have the same GraphQL query: `texts`',
  ],
  'GraphQL types differ': [
    `components:
  shared.seo: { attributes: { title: string } }
contentTypes:
  foo: { attributes: { title: string } }
  foo-entity: { attributes: { title: string } }
  component-shared-seo: { tableName: other, attributes: { title: string } }
  pagination: { attributes: { title: string } }`,
    '2:3 components["shared.seo"]: component `shared.seo` and content-type `component-shared-seo` have the same GraphQL type: `ComponentSharedSeo`',
    '5:3 contentTypes.foo-entity: content-type `foo-entity` and content-type `foo` have the same GraphQL type: `FooEntity`',
    '7:3 contentTypes.pagination: content-type `pagination` and Plinth itself have the same GraphQL type: `Pagination`',
  ],
  'GraphQL queries and mutations differ': [
    `contentTypes:
  me: { attributes: { title: string } }
  foo: { localized: true, attributes: { title: string } }
  foo-localization: { attributes: { title: string } }
  upload-file: { attributes: { title: string } }`,
    '2:3 contentTypes.me: content-type `me` and Plinth itself have the same GraphQL query: `me`',
    '4:3 contentTypes.foo-localization: content-type `foo-localization` and content-type `foo` have the same GraphQL mutation: `createFooLocalization`',
    '5:3 contentTypes.upload-file: content-type `upload-file` and built-in content-type `file` have the same GraphQL type: `UploadFile`',
    '5:3 contentTypes.upload-file: content-type `upload-file` and built-in content-type `file` have the same GraphQL query: `uploadFile`',
    '5:3 contentTypes.upload-file: content-type `upload-file` and built-in content-type `file` have the same GraphQL mutation: `createUploadFile`',
  ],
  'names of the flat format differ, connections included': [
    `graphql: { config: { v4CompatibilityMode: false } }
contentTypes:
  publication-status: { attributes: { title: string } }
  foo:
    attributes:
      others: { type: relation, relation: oneToMany, target: foo }
      others_connection: string`,
    '3:3 contentTypes.publication-status: content-type `publication-status` and Plinth itself have the same GraphQL type: `PublicationStatus`',
    '7:7 contentTypes.foo.attributes.others_connection: attribute `foo.others_connection` and attribute `foo.others` have the same GraphQL field: `others_connection`',
  ],
  'enumerations and zones of two types differ in GraphQL': [
    `components: { a.part: { attributes: { title: string } } }
contentTypes:
  ab: { attributes: { kind: { type: enumeration, enum: [a] } } }
  a-b: { pluralApiId: others, attributes: { kind: { type: enumeration, enum: [a] } } }
  foo: { attributes: { myParts: { type: dynamiczone, components: [a.part] }, my_parts: { type: dynamiczone, components: [a.part] } } }`,
    '4:45 contentTypes.a-b.attributes.kind: attribute `a-b.kind` and attribute `ab.kind` have the same GraphQL type: `ENUM_AB_KIND`',
    '5:78 contentTypes.foo.attributes.my_parts: attribute `foo.my_parts` and attribute `foo.myParts` have the same GraphQL type: `FooMyPartsDynamicZone`',
  ],
  'tables differ, those of links too': [
    `components:
  a.b-c: { attributes: { title: string } }
  a-b.c: { attributes: { title: string } }
contentTypes:
  post: { tableName: articles, attributes: { tags: { type: relation, relation: manyToMany, target: post } } }
  article: { attributes: { title: string } }
  tagging: { tableName: articles_tags_links, attributes: { title: string } }`,
    '3:3 components["a-b.c"]: component `a-b.c` and component `a.b-c` have the same GraphQL type: `ComponentABC`',
    '3:3 components["a-b.c"]: component `a-b.c` and component `a.b-c` have the same table: `components_a_b_c`',
    '5:46 contentTypes.post.attributes.tags: attribute `post.tags` and content-type `tagging` have the same table: `articles_tags_links`',
    '6:3 contentTypes.article: content-type `article` and content-type `post` have the same table: `articles`',
  ],
  'a search names text attributes, locales and configurations': [
    `components: { part.quote: { attributes: { text: text, age: integer } } }
contentTypes:
  article:
    attributes: { title: string, secret: password, age: integer, quote: { type: component, component: part.quote } }
    search:
      attributes: { titel: A, secret: B, age: C, quote: D, quote.txt: D, quote.age: D, quote.text: D, title.x: A, quote.text.x: A }
      languages: { en: englisch, de: german }`,
    '6:21 contentTypes.article.search.attributes.titel: unknown attribute `titel`: did you mean `title`?',
    '6:31 contentTypes.article.search.attributes.secret: `secret` is of type password: a search takes attributes of type string, text, richtext, blocks, email, uid',
    '6:42 contentTypes.article.search.attributes.age: `age` is of type integer: a search takes attributes of type string, text, richtext, blocks, email, uid',
    '6:50 contentTypes.article.search.attributes.quote: `quote` is a component: name one of its attributes, such as `quote.text`',
    '6:60 contentTypes.article.search.attributes["quote.txt"]: unknown attribute `txt`: did you mean `text`?',
    '6:74 contentTypes.article.search.attributes["quote.age"]: `quote.age` is of type integer: a search takes attributes of type string, text, richtext, blocks, email, uid',
    '6:103 contentTypes.article.search.attributes["title.x"]: `title` is not a component: `title.x` does not exist',
    '6:115 contentTypes.article.search.attributes["quote.text.x"]: `quote.text.x`: components are searched one level deep',
    '7:24 contentTypes.article.search.languages.en: unknown text search configuration `englisch`: did you mean `english`?',
    '7:34 contentTypes.article.search.languages.de: unknown locale `de`',
  ],
  'columns differ, those of links too': [
    `contentTypes:
  article:
    attributes:
      created_at: datetime
      fooBar: string
      foo_bar: string
      author: { type: relation, relation: manyToOne, target: user }
      author_key: string`,
    '4:7 contentTypes.article.attributes.created_at: attribute `article.created_at` and system attribute `createdAt` have the same column: `created_at`',
    '6:7 contentTypes.article.attributes.foo_bar: attribute `article.foo_bar` and attribute `article.fooBar` have the same column: `foo_bar`',
    '8:7 contentTypes.article.attributes.author_key: attribute `article.author_key` and attribute `article.author` have the same column: `author_key`',
  ],
  'a type has no more columns than a table may have': [
    `contentTypes: { article: { attributes: { ${numbered(1_501)} } }, page: { attributes: { ${numbered(1_500)} } } }`,
    '1:17 contentTypes.article: content-type `article` needs 1501 columns for its attributes; a table may have 1500: move attributes into components',
  ],
}

for (const [promise, [yaml, ...reported]] of Object.entries(CASES)) {
  test(promise, async t => t.deepEqual(await faultsOf(yaml), reported))
}

test('every diagnostic code has a test case', async t => {
  const codes = new Set<string>()
  for (const [yaml] of Object.values(CASES)) {
    const result = compileModel(await declare(yaml))
    for (const { code } of result.ok ? [] : result.reasons) codes.add(code)
  }
  t.deepEqual([...codes].toSorted(), [...MODEL_CODES].toSorted())
})

test('names may clash in GraphQL if the project does not use GraphQL', async t => {
  const types =
    'contentTypes: { foo: { attributes: { a: string } }, foo-entity: { attributes: { a: string } } }'
  t.is((await faultsOf(types)).length, 1)
  t.deepEqual(await faultsOf(`graphql: { enabled: false }\n${types}`), [])
})

test('all errors are reported together', async t => {
  const faults = await faultsOf(`
components:
  a.self: { attributes: { self: { type: component, component: a.self } } }
contentTypes:
  role: { attributes: { name: string } }
  article: { attributes: { author: { type: relation, relation: manyToOne, target: missing }, fooBar: string, foo_bar: string } }`)
  t.is(faults.length, 4)
})

test('an attribute may have the name of a built-in column', async t => {
  const yaml = `
components: { a.part: { attributes: { owner: { type: relation, relation: oneToOne, target: order }, position: integer, status: string } } }
contentTypes:
  order:
    draftAndPublish: true
    attributes: { status: { type: enumeration, enum: [open, paid] }, document: { type: media }, part: { type: component, component: a.part } }`
  t.deepEqual(await faultsOf(yaml), [])
})

test('thousands of unknown targets are all reported, the first ones with the nearest name', async t => {
  const count = 2_000
  const types = Array.from(
    { length: count },
    (_, index) =>
      `  first${index}thing: { attributes: { other: { type: relation, relation: manyToOne, target: first${index}thin } } }\n`,
  )
  const faults = await faultsOf(`contentTypes:\n${types.join('')}`)
  t.is(faults.length, count)
  t.regex(faults[0] ?? '', /unknown target `first0thin`: did you mean `first0thing`\?$/)
  // Without a limit each unknown name would be compared with each known one.
  t.regex(faults.at(-1) ?? '', /unknown target `first1999thin`$/)
  // The limit is that of one load.
  const [again = ''] = await faultsOf(`contentTypes:\n${types.slice(0, 3).join('')}`)
  t.regex(again, /did you mean `first0thing`\?$/)
})
