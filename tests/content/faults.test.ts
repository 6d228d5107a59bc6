import test from 'ava'
import { openSite } from './site.ts'

const PROJECT = `
i18n: { locales: [en, fr], defaultLocale: en }
components:
  shared.link: { attributes: { url: { type: string, required: true } } }
contentTypes:
  article:
    draftAndPublish: true
    localized: true
    attributes:
      title: { type: string, required: true, minLength: 3 }
      kind: { type: enumeration, enum: [news, opinion], localized: false }
      rating: { type: integer, max: 10 }
      day: date
      code: { type: string, unique: true }
      author: { type: relation, relation: manyToOne, target: author, inversedBy: articles }
      translated: { type: relation, relation: oneToOne, target: article }
      cover: { type: media, multiple: false, allowedTypes: [images] }
      links: { type: component, component: shared.link, repeatable: true }
      zone: { type: dynamiczone, components: [shared.link] }
  author:
    attributes:
      name: { type: string, required: true }
      pin: password
      articles: { type: relation, relation: oneToMany, target: article, mappedBy: author }
  setting: { kind: single, attributes: { name: string } }
roles: { public: {}, editor: {} }
`

const AUTHORS = '[{ documentId: ann, name: Ann }, { documentId: bob, name: Bob }]'

/** A file and the diagnostics expected for it. */
const CASES: readonly (readonly [
  title: string,
  files: Readonly<Record<string, string>>,
  faults: readonly string[],
])[] = [
  [
    'every fault of every file at once, in the order of the files',
    {
      'content/articles.yaml':
        '- { documentId: a, titel: x, rating: 11 }\n- documentId: b\n  title: ab\n  day: 2024-02-30\n',
      'content/authors.yaml': '- { documentId: ann }\n',
    },
    [
      'content/articles.yaml:1:20 unknown attribute `titel` of `article`: did you mean `title`?',
      'content/articles.yaml:1:38 rating must be less than or equal to 10',
      'content/articles.yaml:3:10 title must be at least 3 characters',
      'content/articles.yaml:4:8 Invalid date',
      'content/authors.yaml:1:3 name must be defined.',
    ],
  ],
  [
    'references that lead nowhere, with the nearest word',
    {
      'content/articles.yaml': '- { documentId: first, title: One, author: anne, translated: frist }\n',
      'content/authors.yaml': AUTHORS,
    },
    [
      'content/articles.yaml:1:44 unknown author `anne`: did you mean `ann`?',
      'content/articles.yaml:1:62 unknown article `frist`: did you mean `first`?',
    ],
  ],
  [
    'links of the wrong form, each with all that is wrong',
    {
      'content/articles.yaml':
        '- { documentId: a, title: One, author: { documentID: ann } }\n- { documentId: b, title: Two, author: 12 }\n- { documentId: c, title: Two, translated: { documentId: a, locale: de, status: drat } }\n',
      'content/authors.yaml': AUTHORS,
    },
    [
      'content/articles.yaml:1:40 expected a documentId, or a mapping with the key `documentId`',
      'content/articles.yaml:1:42 unknown key `documentID`: did you mean `documentId`?',
      'content/articles.yaml:2:40 `12` is a number: put a documentId in quotes',
      'content/articles.yaml:3:69 unknown locale `de`: there are en, fr',
      'content/articles.yaml:3:81 `status` is `draft` or `published`',
    ],
  ],
  [
    'a link to a document that is not there in its locale',
    {
      'content/articles.yaml':
        '- documentId: first\n  title: One\n  locales:\n    fr: { title: Une, translated: second }\n- { documentId: second, title: Two }\n',
    },
    ['content/articles.yaml:4:35 `second` has no version in `fr`'],
  ],
  [
    'locales that are none, and shared attributes below a locale',
    {
      'content/articles.yaml':
        '- documentId: a\n  title: One\n  locales:\n    fr: { title: Une, kind: news }\n    de: { title: Eins }\n    en: { title: One }\n',
    },
    [
      'content/articles.yaml:4:23 all locales share `kind`: set it at the top level of the document',
      'content/articles.yaml:5:5 unknown locale `de`: there are en, fr',
      'content/articles.yaml:6:5 `en` is the default locale: set its attributes at the top level',
    ],
  ],
  [
    'components and zones, by their place in the list',
    {
      'content/articles.yaml':
        '- documentId: a\n  title: One\n  links: [{ url: / }, {}]\n  zone: [{ url: / }, { __component: shared.lnk, url: / }, { __component: shared.link, ulr: / }]\n',
    },
    [
      'content/articles.yaml:3:23 links[1].url must be a `string` type, but the final value was: `null`.',
      'content/articles.yaml:4:10 zone[0].__component is a required field',
      'content/articles.yaml:4:37 zone[1].__component must be one of the following values: shared.link',
      'content/articles.yaml:4:87 unknown attribute `ulr` of `shared.link`: did you mean `url`?',
    ],
  ],
  [
    'the same document or the same unique value twice, with both places',
    {
      'content/articles.yaml':
        '- { documentId: a, title: One, code: x }\n- { documentId: a, title: Two }\n- { documentId: b, title: Two, code: x }\n',
    },
    [
      'content/articles.yaml:2:17 there are two documents `a` (content/articles.yaml:1:17 is the first one)',
      'content/articles.yaml:3:38 `code` must be unique, and another document has `x` already (content/articles.yaml:1:38 has it first)',
    ],
  ],
  [
    'two sides of a relation that cannot both be right',
    {
      'content/articles.yaml': '- { documentId: a, title: One, author: ann }\n',
      'content/authors.yaml':
        '- { documentId: ann, name: Ann }\n- { documentId: bob, name: Bob, articles: [a] }\n',
    },
    [
      'content/authors.yaml:2:43 `a` and `bob` cannot be linked by `author`: one of them is linked already (content/articles.yaml:1:40 links it)',
    ],
  ],
  [
    'files that are missing, of the wrong kind or outside',
    {
      'content/media/a.txt': 'text',
      'content/articles.yaml':
        '- { documentId: a, title: One, cover: { file: b.png } }\n- { documentId: b, title: Two, cover: { file: a.txt } }\n- { documentId: c, title: Two, cover: { file: ../articles.yaml, alt: x } }\n',
    },
    [
      'content/articles.yaml:1:47 no file `b.png` in content/media/',
      'content/articles.yaml:2:47 `a.txt` is text/plain: `cover` takes images',
      'content/articles.yaml:3:65 unknown key `alt`: one of `file`, `name`, `alternativeText`, `caption`',
    ],
  ],
  [
    'a file where the folder should be',
    { content: 'x' },
    ['content:1:1 `content` is a file: documents lie in a folder of this name'],
  ],
  [
    'a folder that is called like a file of documents',
    { 'content/articles.yaml/a.txt': 'x' },
    ['content/articles.yaml:1:1 a folder cannot hold documents: only a file of this name can'],
  ],
  [
    'files that no content-type goes by, and shapes that are none',
    {
      'content/article.yaml': '[]',
      'content/articles.yaml': '{ on: syn, document: [] }',
      'content/authors.yaml': '- 1\n- { documentId: a b, name: x }\n- { documentId: 12, name: x }\n',
      'content/setting.yaml': '[{ name: a }, { name: b }]',
    },
    [
      'content/article.yaml:1:1 no content-type has the file `article.yaml`: did you mean `articles.yaml`?',
      'content/articles.yaml:1:7 `on` is `create` or `sync`',
      'content/articles.yaml:1:12 unknown key `document`: did you mean `documents`?',
      'content/authors.yaml:1:3 a document is a mapping of its attributes',
      'content/authors.yaml:2:17 a documentId is 1 to 64 letters, digits, `_` or `-`',
      'content/authors.yaml:3:17 a documentId is 1 to 64 letters, digits, `_` or `-`; put a number in quotes',
      'content/setting.yaml:1:15 `setting` is a single type: it has one document',
    ],
  ],
  [
    'users with roles that are none, and no password in any message',
    {
      'content/users.yaml':
        '- { username: ann, email: ann@example.org, password: 123456, role: editr }\n- { username: ann, email: x, documentId: a }\n',
      'content/authors.yaml': '[{ documentId: a, name: A, pin: 424242 }]',
    },
    [
      'content/authors.yaml:1:33 pin must be a `string` type',
      'content/users.yaml:1:54 password must be a `string` type',
      'content/users.yaml:1:68 unknown role `editr`: did you mean `editor`?',
      'content/users.yaml:2:15 there are two documents `ann` (content/users.yaml:1:15 is the first one)',
      'content/users.yaml:2:15 `username` must be unique, and another document has `ann` already (content/users.yaml:1:15 has it first)',
      'content/users.yaml:2:27 email must be at least 6 characters',
      'content/users.yaml:2:27 email must be a valid email',
      'content/users.yaml:2:30 a user goes by `username`, not by a documentId',
    ],
  ],
]

for (const [title, files, expected] of CASES) {
  test(`content/ is refused with positions: ${title}`, async t => {
    const site = await openSite(t, { 'project.yaml': PROJECT, ...files })
    t.deepEqual(await site.start(), expected)
  })
}

test('one fault prevents all writes', async t => {
  const site = await openSite(t, { 'project.yaml': PROJECT, 'content/authors.yaml': AUTHORS })
  await site.must()
  const faults = await site.start({
    'content/authors.yaml': AUTHORS.replace(']', ', { documentId: cid, name: Cid }]'),
    'content/articles.yaml': '[{ documentId: a, title: x }]',
  })
  t.deepEqual(faults, ['content/articles.yaml:1:26 title must be at least 3 characters'])
  t.is((await site.get('authors')).length, 2)
})

test('a unique value taken in the database is reported with its position, and nothing is written', async t => {
  const site = await openSite(t, {
    'project.yaml': PROJECT,
    'content/articles.yaml': '[{ documentId: a, title: One, code: x }]',
  })
  await site.must()
  const faults = await site.start({
    'content/articles.yaml': '[{ documentId: b, title: Two, code: x }, { documentId: c, title: Three }]',
  })
  t.deepEqual(faults, [
    'content/articles.yaml:1:37 `code` must be unique, and another document has `x` already',
  ])
  t.is((await site.get('articles')).length, 1)
})
